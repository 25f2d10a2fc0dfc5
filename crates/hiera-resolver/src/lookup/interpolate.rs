//! Interpolation: fills in the tokens of data values.
//!
//! Puppet: interpolates the result of an interpolation again, so that a client that sends facts could read any key, and an
//! escape by `literal` is lost in a `lookup`. Here a result is final.

use arcstr::ArcStr;
use puppet_values::{Hash, Value, ruby_text};

use super::limits::{LimitError, MAX_CHAIN, MAX_DEPTH, MAX_WEIGHT, ended};
use super::request::Outcome;
use super::walk::Walk;
use crate::explain::words::headings;
use crate::explain::{Event, NodeKind, REDACTED};
use crate::key::KeyError;
use crate::lookup::LookupError;
use crate::scope::is_undefined;
use crate::template::{Function, InterpolationError, Origin, Part, Template, Token, Variable};

impl Walk<'_, '_> {
    /// The value with its tokens filled in. A value without any is shared, not copied.
    pub(super) fn interpolate(&mut self, value: &Value, key: &str) -> Result<Value, LookupError> {
        if !value.traits().has_templates {
            return Ok(value.clone());
        }
        self.spend(1)?;
        let filled = match value {
            Value::Template(template) => self.fill(&Template::of(template), key)?,
            Value::Array(array) => {
                let items = array.items().iter().map(|item| self.interpolate(item, key));
                Value::array(items.collect::<Result<_, _>>()?)
            }
            Value::Hash(hash) => {
                let mut filled = Hash::with_capacity(hash.len());
                for (name, value) in hash.iter() {
                    let name = self.interpolate(name, key)?;
                    let value = self.interpolate(value, key)?;
                    filled.insert(name, value);
                }
                Value::hash(filled)
            }
            other => other.clone(),
        };
        if filled.traits().weight > MAX_WEIGHT {
            return Err(LimitError::TooLargeValue {
                key: key.to_owned(),
            }
            .into());
        }
        if filled.traits().depth > MAX_DEPTH {
            return Err(LimitError::TooDeepValue {
                key: key.to_owned(),
                bound: MAX_DEPTH,
            }
            .into());
        }
        Ok(filled)
    }

    fn fill(&mut self, template: &Template, key: &str) -> Result<Value, LookupError> {
        match template.origin() {
            Origin::Plain => {}
            Origin::Undecryptable(fault) => {
                return Err(LookupError::Undecryptable {
                    key: key.to_owned(),
                    text: template.source().clone(),
                    path: None,
                    fault: fault.clone(),
                });
            }
            Origin::Decrypted => return self.fill_decrypted(template),
        }
        let hides = self.hides;
        let kind = || {
            let expression = match hides {
                true => REDACTED.into(),
                false => template.source().clone(),
            };
            (NodeKind::Interpolation { expression }, None)
        };
        let filled = self.node(kind, |walk| walk.fill_parts(template));
        match self.hides {
            true => filled.map_err(without_tokens),
            false => filled,
        }
    }

    /// The same for a decrypted text. The values of its tokens are part of the secret, so they are neither explained nor
    /// quoted in errors.
    fn fill_decrypted(&mut self, template: &Template) -> Result<Value, LookupError> {
        let has_tokens = !matches!(template.parts(), [] | [Part::Text(_)]);
        let filled = if has_tokens {
            let expression = template.source().clone();
            let kind = || (NodeKind::Interpolation { expression }, None);
            self.node(kind, |walk| {
                walk.unexplained(|walk| walk.fill_parts(template))
            })
        } else {
            self.fill_parts(template)
        };
        let value = filled.map_err(without_tokens)?;
        self.add_secret(&value);
        Ok(value)
    }

    fn fill_parts(&mut self, template: &Template) -> Result<Value, LookupError> {
        let path = self.file.clone();
        let in_template = |error| LookupError::Interpolation {
            template: template.source().clone(),
            path: path.clone(),
            error,
        };
        // What is filled in is seldom much longer than its token.
        let mut text = String::with_capacity(template.source().len() + 32);
        let mut is_secret = false;
        for part in template.parts() {
            let token = match part {
                Part::Text(literal) => {
                    text.push_str(literal);
                    continue;
                }
                Part::Token(token) => token,
            };
            let start = text.len();
            match token {
                Token::Empty => {}
                Token::Variable(variable) => self
                    .fill_variable(variable, &mut text)
                    .map_err(in_template)?,
                Token::Call {
                    function,
                    argument,
                    key,
                    variable,
                } => match function {
                    Function::Literal => text.push_str(argument),
                    Function::Scope => {
                        if let Some(variable) = variable {
                            self.fill_variable(variable, &mut text)
                                .map_err(in_template)?;
                        }
                    }
                    Function::Lookup => {
                        let value = self.nested(key, argument)?;
                        is_secret |= self.has_secret(&value);
                        ruby_text::to_s(&value, &mut text);
                    }
                    Function::Alias if template.parts().len() == 1 => {
                        return self.nested(key, argument);
                    }
                    Function::Alias => {
                        return Err(in_template(InterpolationError::AliasNotWholeString));
                    }
                    Function::Unknown(name) => {
                        return Err(in_template(InterpolationError::UnknownFunction {
                            name: name.clone(),
                        }));
                    }
                },
            }
            let filled_in = text.len() - start;
            self.spend(1 + filled_in as u64 / 64)?;
            work_budget::charge_bytes(filled_in).map_err(ended)?;
        }
        let filled = Value::Str(text.into());
        if is_secret {
            self.add_secret(&filled);
        }
        Ok(filled)
    }

    /// The value of another key; an empty text if there is none.
    fn nested(
        &mut self,
        key: &Result<crate::key::LookupKey, KeyError>,
        name: &ArcStr,
    ) -> Result<Value, LookupError> {
        if let Err(error) = key {
            return Err(error.clone().into());
        }
        if self.chain >= MAX_CHAIN {
            let start = self
                .names
                .first()
                .map(ToString::to_string)
                .unwrap_or_default();
            return Err(LimitError::TooDeepChain {
                bound: MAX_CHAIN,
                start,
            }
            .into());
        }
        self.chain += 1;
        let outer = (self.is_version_3, self.file.take());
        self.is_version_3 &= self.is_global_only;
        let found = self.lookup(&[name], Some(&Value::str("")), None, None);
        (self.is_version_3, self.file) = outer;
        self.chain -= 1;
        match found? {
            Outcome::Found(value) => Ok(value),
            Outcome::NotFound => Ok(Value::str("")),
        }
    }

    fn fill_variable(
        &mut self,
        variable: &Variable,
        text: &mut String,
    ) -> Result<(), InterpolationError> {
        if self.explanation.is_none() && self.overrides.is_none() && self.defaults.is_none() {
            return match self.session.scope.write(variable, text)? {
                true => Ok(()),
                false => self.check_set(variable),
            };
        }
        // Variables come from the client, so they are no secret to it.
        let outer = std::mem::replace(&mut self.hides, false);
        let value = self.explained_variable(variable);
        self.hides = outer;
        if let Some(value) = value? {
            ruby_text::to_s(&value, text);
        }
        Ok(())
    }

    /// Fails if a variable without a text is not set at all, and that is an error.
    fn check_set(&self, variable: &Variable) -> Result<(), InterpolationError> {
        match &variable.path {
            Ok((name, _))
                if self.session.is_strict
                    && is_undefined(name, self.session.scope, self.is_version_3) =>
            {
                Err(InterpolationError::UndefinedVariable { name: name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The same with every step recorded. `override` and `default_values` of a request count as variables too.
    fn explained_variable(
        &mut self,
        variable: &Variable,
    ) -> Result<Option<Value>, InterpolationError> {
        let heading = || (headings::variables(), None);
        let (name, segments) = match &variable.path {
            Ok(path) => path,
            Err(error) => {
                // Puppet looks up a number in the scope before it notices that a number is not a name.
                if matches!(error, KeyError::NumberFirst { .. }) {
                    self.node(heading, |_| ());
                }
                return Err(error.clone().into());
            }
        };
        let value = self.node(heading, |walk| -> Result<_, InterpolationError> {
            if let Some(value) = walk.overrides.and_then(|overrides| overrides.get(name)) {
                walk.report(Some(name), || Event::FoundInOverrides(value.clone()));
                return Ok(Some(value.clone()));
            }
            if let Some(value) = walk.session.scope.variable(name) {
                walk.report(Some(name), || Event::Found(value.clone()));
                return Ok(Some(value));
            }
            let default = walk.defaults.and_then(|defaults| defaults.get(name));
            // Puppet: with data of version 3, it fails before it looks for a default.
            if default.is_none() || walk.is_version_3 {
                walk.check_set(variable)?;
            }
            if let Some(value) = default {
                walk.report(Some(name), || Event::FoundInDefaults(value.clone()));
            }
            Ok(default.cloned())
        })?;
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self
                .dig(value, segments, &variable.text)
                .map_err(|error| match error {
                    LookupError::Dig(error) => InterpolationError::Dig(error),
                    // Digging knows no other mistake.
                    _ => InterpolationError::AliasNotWholeString,
                }),
        }
    }
}

/// The error of a secret text, without what its tokens are.
fn without_tokens(error: LookupError) -> LookupError {
    match error {
        LookupError::Interpolation { .. }
        | LookupError::Key(_)
        | LookupError::Recursion { .. }
        | LookupError::Limit(LimitError::TooDeepChain { .. }) => LookupError::Withheld {
            what: "the interpolation",
        },
        other => other,
    }
}
