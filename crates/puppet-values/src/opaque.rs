//! Content of values that this crate does not interpret: types of the Puppet language, and strings with interpolation
//! tokens.
//!
//! The crates that interpret it depend on this one. They store their own Rust type and downcast to it.

use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arcstr::ArcStr;

/// A type of the Puppet language as a value.
#[derive(Clone)]
pub struct TypeValue(Arc<dyn OpaqueType>);

/// The requirements for a type, implemented for all Rust types that meet them.
trait OpaqueType: Any + Debug + Display + Send + Sync {
    fn is_equal(&self, other: &dyn OpaqueType) -> bool;
    fn hash_into(&self, state: &mut dyn Hasher);
}

impl<T: Any + Debug + Display + Eq + Hash + Send + Sync> OpaqueType for T {
    fn is_equal(&self, other: &dyn OpaqueType) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
}

impl TypeValue {
    /// Wraps a type.
    pub fn new(ty: impl Any + Debug + Display + Eq + Hash + Send + Sync) -> Self {
        TypeValue(Arc::new(ty))
    }

    /// The type, if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        let ty: &dyn Any = &*self.0;
        ty.downcast_ref()
    }
}

impl Display for TypeValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&*self.0, out)
    }
}

impl Debug for TypeValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&*self.0, out)
    }
}

impl PartialEq for TypeValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(&*other.0)
    }
}

impl Eq for TypeValue {}

impl Hash for TypeValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash_into(state);
    }
}

/// A string with interpolation tokens. A lookup replaces them.
pub struct TemplateText {
    source: ArcStr,
    parsed: Box<dyn Any + Send + Sync>,
}

impl TemplateText {
    /// A string as written, with the parsed form of the crate that interpolates it.
    pub fn new(source: ArcStr, parsed: impl Any + Send + Sync) -> Self {
        TemplateText {
            source,
            parsed: Box::new(parsed),
        }
    }

    /// The string as written.
    pub fn source(&self) -> &ArcStr {
        &self.source
    }

    /// The parsed form, if it is a `T`.
    pub fn parsed<T: Any>(&self) -> Option<&T> {
        self.parsed.downcast_ref()
    }
}

impl Debug for TemplateText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("TemplateText").field(&self.source).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_returned_unchanged_and_compared_by_value() {
        let first = TypeValue::new("Integer".to_owned());
        assert_eq!(first, TypeValue::new("Integer".to_owned()));
        assert_ne!(first, TypeValue::new("String".to_owned()));
        assert_ne!(first, TypeValue::new("Integer"));
        assert_eq!(
            first.downcast_ref::<String>().map(String::as_str),
            Some("Integer")
        );
        assert_eq!(first.downcast_ref::<i64>(), None);
        assert_eq!(first.to_string(), "Integer");
    }

    #[test]
    fn a_template_returns_its_source_and_its_parsed_form() {
        let template = TemplateText::new("%{a}".into(), vec!["a"]);
        assert_eq!(template.source(), "%{a}");
        assert_eq!(template.parsed::<Vec<&str>>(), Some(&vec!["a"]));
        assert!(template.parsed::<String>().is_none());
    }
}
