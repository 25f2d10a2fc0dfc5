//! [`Names`]: the values of the variables in the paths of a layer, computed and hashed once per node.

use std::borrow::Cow;

use arcstr::ArcStr;
use puppet_values::table_key::hash_of;
use smallvec::SmallVec;

use crate::scope::Scope;
use crate::template::Variable;

/// What a name in a path consists of: a variable, or several parts that make up a whole component.
#[derive(Debug, PartialEq)]
pub(super) struct NameSource {
    pub(super) parts: Vec<NamePart>,
}

#[derive(Debug)]
pub(super) enum NamePart {
    Text(ArcStr),
    Variable(Variable),
}

impl PartialEq for NamePart {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (NamePart::Text(left), NamePart::Text(right)) => left == right,
            (NamePart::Variable(left), NamePart::Variable(right)) => left.text == right.text,
            _ => false,
        }
    }
}

impl NameSource {
    fn text<'s>(&self, scope: &'s dyn Scope) -> Option<Cow<'s, str>> {
        if let [NamePart::Variable(variable)] = self.parts.as_slice()
            && let Ok((name, segments)) = &variable.path
            && let Some(text) = scope.text(name, segments)
        {
            return Some(Cow::Borrowed(text));
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                NamePart::Text(more) => text.push_str(more),
                NamePart::Variable(variable) => _ = scope.write(variable, &mut text).ok()?,
            }
        }
        Some(Cow::Owned(text))
    }
}

/// The names of one node, in the order of their sources.
pub(super) struct Names<'s> {
    names: SmallVec<[Name<'s>; 8]>,
}

pub(super) struct Name<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) hash: u64,
}

impl<'s> Names<'s> {
    /// `None` if a variable has no text, which is an error that the plan reports.
    pub(super) fn resolve(sources: &[NameSource], scope: &'s dyn Scope) -> Option<Self> {
        let mut names = SmallVec::new();
        for source in sources {
            let text = source.text(scope)?;
            let hash = hash_of(&text);
            names.push(Name { text, hash });
        }
        Some(Names { names })
    }

    /// The name of the source at an index.
    pub(super) fn get(&self, source: usize) -> Option<&Name<'s>> {
        self.names.get(source)
    }
}
