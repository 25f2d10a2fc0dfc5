//! What a value carries without knowing what it means: types of the Puppet language and texts to be filled in.
//!
//! The crates that know the meaning stand above this one. They put their own type in and take it out again by name.

use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arcstr::ArcStr;

/// A type of the Puppet language, which is a value as well.
#[derive(Clone)]
pub struct TypeValue(Arc<dyn Carried>);

/// What a type must be able to do to be a value. All types with these traits can.
trait Carried: Any + Debug + Display + Send + Sync {
    fn is_equal(&self, other: &dyn Carried) -> bool;
    fn hash_into(&self, state: &mut dyn Hasher);
}

impl<T: Any + Debug + Display + Eq + Hash + Send + Sync> Carried for T {
    fn is_equal(&self, other: &dyn Carried) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
}

impl TypeValue {
    /// A type as a value.
    pub fn new(ty: impl Any + Debug + Display + Eq + Hash + Send + Sync) -> Self {
        TypeValue(Arc::new(ty))
    }

    /// The type, where it is a `T`.
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

/// A text that is not final: a lookup fills it in. Two are equal if their sources are.
pub struct TemplateText {
    source: ArcStr,
    parsed: Box<dyn Any + Send + Sync>,
}

impl TemplateText {
    /// A text as written, with the parsed form of the crate that fills it in.
    pub fn new(source: ArcStr, parsed: impl Any + Send + Sync) -> Self {
        TemplateText {
            source,
            parsed: Box::new(parsed),
        }
    }

    /// The text as written.
    pub fn source(&self) -> &ArcStr {
        &self.source
    }

    /// The parsed form, where it is a `T`.
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
    fn a_carried_type_comes_back_as_itself_and_compares_by_value() {
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
    fn a_template_gives_back_its_source_and_its_parsed_form() {
        let template = TemplateText::new("%{a}".into(), vec!["a"]);
        assert_eq!(template.source(), "%{a}");
        assert_eq!(template.parsed::<Vec<&str>>(), Some(&vec!["a"]));
        assert!(template.parsed::<String>().is_none());
    }
}
