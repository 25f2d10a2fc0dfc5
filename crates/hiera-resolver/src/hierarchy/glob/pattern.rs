//! A glob as the list of its components.

use super::{GlobError, braces};

/// A pattern below some directory.
#[derive(Debug)]
pub(super) struct Pattern {
    components: Vec<Component>,
    /// It ends in a slash: only directories match.
    wants_directory: bool,
}

/// The part between two slashes of a pattern.
#[derive(Debug)]
pub(super) enum Component {
    /// `**/`: any number of directories.
    Recursive,
    /// No special characters, or only escaped ones. May be several consecutive names, with their slashes.
    Literal { text: String, name: String },
    /// `*`, `?` or `[`.
    Wild(String),
    /// Braces, with their alternatives if they follow a `**/` and are matched name by name.
    Brace {
        text: String,
        alternatives: Vec<String>,
    },
}

impl Pattern {
    pub(super) fn new(text: &str, alternatives_left: &mut usize) -> Result<Self, GlobError> {
        let mut components = Vec::new();
        let mut rest = text;
        let mut wants_directory = false;
        let mut is_below_recursive = false;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("**/") {
                rest = after.trim_start_matches('/');
                while let Some(after) = rest.strip_prefix("**/") {
                    rest = after.trim_start_matches('/');
                }
                components.push(Component::Recursive);
                wants_directory = true;
                is_below_recursive = true;
                continue;
            }
            let (mut component, mut after) = split_component(rest);
            if !is_below_recursive && is_literal(component) {
                // Consecutive names are looked up at once.
                while let Some(following) = after {
                    let (next, after_next) = split_component(following);
                    if !is_literal(next) || after_next.is_none() {
                        break;
                    }
                    let length = component.len() + 1 + next.len();
                    component = rest.get(..length).unwrap_or(rest);
                    after = after_next;
                }
            }
            components.push(if has_brace(component) {
                Component::Brace {
                    text: component.to_owned(),
                    alternatives: match is_below_recursive {
                        true => braces::expand(component, alternatives_left)?,
                        false => Vec::new(),
                    },
                }
            } else if is_literal(component) {
                Component::Literal {
                    text: component.to_owned(),
                    name: unescape(component),
                }
            } else {
                Component::Wild(component.to_owned())
            });
            wants_directory = after.is_some();
            rest = after.unwrap_or_default();
        }
        Ok(Pattern {
            components,
            wants_directory,
        })
    }

    pub(super) fn component(&self, at: usize) -> Option<&Component> {
        self.components.get(at)
    }

    /// Does the pattern end at this position, and may the match be a file?
    ///
    /// `a/**/` has a position after its last component that only directories reach.
    pub(super) fn ends_at(&self, position: usize) -> bool {
        position == self.components.len() && !self.wants_directory
    }

    /// The pattern from a component on, as text.
    pub(super) fn text_from(&self, at: usize) -> String {
        let texts = self
            .components
            .iter()
            .skip(at)
            .map(|component| match component {
                Component::Recursive => "**",
                Component::Literal { text, .. }
                | Component::Wild(text)
                | Component::Brace { text, .. } => text.as_str(),
            });
        let mut text = texts.collect::<Vec<_>>().join("/");
        if self.wants_directory {
            text.push('/');
        }
        text
    }
}

impl Component {
    pub(super) fn is_recursive(&self) -> bool {
        matches!(self, Component::Recursive)
    }

    pub(super) fn is_brace(&self) -> bool {
        matches!(self, Component::Brace { .. })
    }

    /// The name, if no listing is needed to find it.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Component::Literal { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The patterns to compare with a name.
    pub(super) fn alternatives(&self) -> &[String] {
        match self {
            Component::Recursive => &[],
            Component::Literal { text, .. } | Component::Wild(text) => std::slice::from_ref(text),
            Component::Brace { alternatives, .. } => alternatives,
        }
    }

    /// What it costs to compare it with a name.
    pub(super) fn weight(&self) -> usize {
        self.alternatives().iter().map(|text| text.len() + 1).sum()
    }
}

/// Splits at the first slash that is neither escaped nor inside brackets or braces.
fn split_component(text: &str) -> (&str, Option<&str>) {
    let mut is_open = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'[' | b'{' => is_open = true,
            b']' | b'}' => is_open = false,
            b'\\' => {
                bytes.next();
            }
            b'/' if !is_open => {
                return (text.get(..index).unwrap_or(text), text.get(index + 1..));
            }
            _ => {}
        }
    }
    (text, None)
}

fn special_characters(text: &str) -> impl Iterator<Item = char> {
    let mut is_escaped = false;
    text.chars().filter(move |character| {
        let counts = !is_escaped;
        is_escaped = counts && *character == '\\';
        counts
    })
}

fn has_brace(text: &str) -> bool {
    special_characters(text).any(|character| character == '{')
}

fn is_literal(text: &str) -> bool {
    !special_characters(text).any(|character| matches!(character, '*' | '?' | '[' | '{'))
}

fn unescape(text: &str) -> String {
    let mut is_escaped = false;
    let keep = |character: &char| {
        is_escaped = !is_escaped && *character == '\\';
        !is_escaped
    };
    text.chars().filter(keep).collect()
}
