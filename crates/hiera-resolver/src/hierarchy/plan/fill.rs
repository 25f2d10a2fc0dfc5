//! Strings of a configuration with their tokens filled in. Functions are refused in them.

use std::borrow::Cow;
use std::ops::Range;

use puppet_values::{Hash, Value};

use crate::hierarchy::{ConfigText, glob, path};
use crate::lookup::LookupError;
use crate::scope::Scope;
use crate::template::{InterpolationError, Part, Template, Token, Variable};

/// A string with its tokens filled in, and which ranges of it come from variables.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) text: String,
    variables: Vec<Range<usize>>,
}

impl Filled {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.variables.clear();
    }

    /// Are the values of all variables plain names?
    pub(super) fn are_variables_plain(&self) -> bool {
        self.variables.iter().all(|range| {
            let name = self.text.get(range.clone());
            name.is_some_and(|name| path::is_within_component(name) && !path::is_only_dots(name))
        })
    }

    /// The string as a glob in which the values of variables match only themselves.
    ///
    /// Puppet: treats `*` and braces in a fact as wildcards. Facts come from the client, which could read the files of
    /// other nodes with them.
    pub(super) fn as_glob(&self) -> Cow<'_, str> {
        if self.variables.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut pattern = String::with_capacity(self.text.len());
        let mut end = 0;
        for range in &self.variables {
            pattern.push_str(self.text.get(end..range.start).unwrap_or_default());
            glob::escape_into(
                &mut pattern,
                self.text.get(range.clone()).unwrap_or_default(),
            );
            end = range.end;
        }
        pattern.push_str(self.text.get(end..).unwrap_or_default());
        Cow::Owned(pattern)
    }

    /// Does a variable make the path absolute, or add a `..`?
    ///
    /// Puppet: follows such a path. Facts come from the client, so here nothing is found.
    pub(super) fn leads_out(&self, written: &str) -> bool {
        if self.variables.is_empty() {
            return false;
        }
        if self.text.contains('\0') || (self.text.starts_with('/') && !written.starts_with('/')) {
            return true;
        }
        self.text.contains("..")
            && components_of_variables(&self.text, &self.variables).any(|name| name == "..")
    }

    /// What a variable adds to an address and must not: `..` segments, a query, a fragment.
    ///
    /// Puppet: sends such a request. A client could choose by its facts what is read from the other server.
    pub(super) fn leads_address_out(&self) -> Option<&'static str> {
        let is_written = |index: usize| !self.variables.iter().any(|it| it.contains(&index));
        let mut marks = self.text.match_indices(['?', '#']);
        let path_end = marks.find(|(index, _)| is_written(*index));
        let path_end = path_end.map_or(self.text.len(), |(index, _)| index);
        let path = self.text.get(..path_end).unwrap_or_default();
        // A server may treat an encoded dot as a dot.
        let is_parent = |name: &str| name.to_ascii_lowercase().replace("%2e", ".") == "..";
        for range in &self.variables {
            let value = self.text.get(range.clone()).unwrap_or_default();
            if value.contains('#') {
                return Some("a fragment");
            }
            if value.contains('?') && range.start < path_end {
                return Some("a query");
            }
        }
        components_of_variables(path, &self.variables)
            .any(is_parent)
            .then_some("`..`")
    }
}

/// The components of a path that come, at least in part, from a variable, or that border on a slash from one.
fn components_of_variables<'t>(
    text: &'t str,
    variables: &[Range<usize>],
) -> impl Iterator<Item = &'t str> {
    let mut start = 0;
    text.split('/').filter(move |component| {
        let range = start..start + component.len();
        start = range.end + 1;
        let touches = |it: &Range<usize>| it.start <= range.end && range.start <= it.end;
        variables.iter().any(|it| !it.is_empty() && touches(it))
    })
}

pub(super) fn fill_text(
    text: &ConfigText,
    scope: &dyn Scope,
    filled: &mut Filled,
) -> Result<(), LookupError> {
    match text.template() {
        Some(template) => fill(template, scope, filled),
        None => {
            filled.clear();
            filled.text.push_str(text.source());
            Ok(())
        }
    }
}

/// Fills in the tokens of a configuration, where functions are refused.
pub(super) fn fill(
    template: &Template,
    scope: &dyn Scope,
    filled: &mut Filled,
) -> Result<(), LookupError> {
    filled.clear();
    fill_parts(template, scope, filled)
}

/// Appends the filled-in parts to what is there.
pub(super) fn fill_parts(
    template: &Template,
    scope: &dyn Scope,
    filled: &mut Filled,
) -> Result<(), LookupError> {
    for part in template.parts() {
        match part {
            Part::Text(text) => filled.text.push_str(text),
            Part::Token(Token::Empty) => {}
            Part::Token(Token::Call { .. }) => {
                let error = InterpolationError::FunctionNotAllowed { config: None };
                return Err(LookupError::Interpolation {
                    template: template.source().clone(),
                    path: None,
                    error,
                });
            }
            Part::Token(Token::Variable(variable)) => {
                let start = filled.text.len();
                scope.write(variable, &mut filled.text).map_err(|error| {
                    LookupError::Interpolation {
                        template: template.source().clone(),
                        path: None,
                        error,
                    }
                })?;
                filled.variables.push(start..filled.text.len());
            }
        }
    }
    Ok(())
}

/// The value of a variable; `None` if it is not set.
pub(super) fn variable_value(
    variable: &Variable,
    scope: &dyn Scope,
) -> Result<Option<Value>, InterpolationError> {
    let (name, segments) = variable.path.as_ref().map_err(|error| error.clone())?;
    if segments.is_empty() {
        return Ok(scope.variable(name));
    }
    Ok(scope.dig(name, segments, &variable.text)?)
}

pub(super) fn fill_options(options: &Value, scope: &dyn Scope) -> Result<Value, LookupError> {
    if !options.traits().has_templates {
        return Ok(options.clone());
    }
    Ok(match options {
        Value::Template(template) => {
            let mut filled = Filled::default();
            fill(&Template::of(template), scope, &mut filled)?;
            Value::str(filled.text)
        }
        Value::Array(array) => {
            let items = array.items().iter().map(|item| fill_options(item, scope));
            Value::array(items.collect::<Result<_, _>>()?)
        }
        Value::Hash(hash) => {
            let entries = hash
                .iter()
                .map(|(key, value)| Ok((fill_options(key, scope)?, fill_options(value, scope)?)));
            Value::hash(entries.collect::<Result<Hash, LookupError>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Node;

    #[test]
    fn a_variable_cannot_change_the_target_of_an_address() {
        for (uri, value, expected) in [
            ("http://h/%{x}", "a", None),
            ("http://h/%{x}", "a/b.c", None),
            ("http://h/%{x}", "..", Some("`..`")),
            ("http://h/%{x}", "a/../b", Some("`..`")),
            ("http://h/%{x}", "%2E%2e/b", Some("`..`")),
            ("http://h/.%{x}/b", ".", Some("`..`")),
            ("http://h/%{x}", "a?b", Some("a query")),
            ("http://h/%{x}", "a#b", Some("a fragment")),
            ("http://h/../%{x}", "a", None),
            ("http://h/a?key=%{x}", "b?../c", None),
            ("http://h/a?key=%{x}", "b#c", Some("a fragment")),
            ("http://h/%{x}?key=1", "a?b", Some("a query")),
        ] {
            let facts = [("x", Value::str(value))];
            let scope = Node::new("e").facts(facts);
            let mut filled = Filled::default();
            fill_text(&ConfigText::new(uri), &scope, &mut filled).unwrap();
            assert_eq!(filled.leads_address_out(), expected, "{uri} with {value}");
        }
    }
}
