//! [`Conversion`]: what `convert_to` asks for.

use std::sync::Arc;

use lean_string::LeanStr;
use puppet_types::{Type, convert};
use puppet_values::{Rich, Value};

use crate::lookup::LookupError;

/// What `convert_to` asks for: a type, and further arguments of its `new`.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    target: Target,
    arguments: Box<[Value]>,
    /// It makes a Sensitive of the value, or may.
    is_secret: bool,
}

#[derive(Clone, Debug)]
enum Target {
    Type(Arc<Type>),
    Other(Value),
    Unknown { source: LeanStr, problem: String },
}

impl Conversion {
    /// Reads `convert_to`: a type, or a list that starts with one.
    pub(super) fn parse(value: &Value) -> Option<Self> {
        let (target, arguments) = match value {
            Value::Null => return None,
            Value::Array(array) => match array.items().split_first() {
                Some((target, arguments)) => (target.clone(), arguments.into()),
                None => (Value::Null, Box::default()),
            },
            other => (other.clone(), Box::default()),
        };
        let target = match &target {
            Value::Str(source) => match Type::parse(source) {
                Ok(parsed) => Target::Type(Arc::new(parsed)),
                Err(error) => Target::Unknown {
                    source: source.clone(),
                    problem: error.to_string(),
                },
            },
            other => Target::Other(other.clone()),
        };
        // It may be anywhere in the type: `Optional[Sensitive]` makes one too.
        let is_secret =
            matches!(&target, Target::Type(target) if target.to_string().contains("Sensitive"));
        Some(Conversion {
            target,
            arguments,
            is_secret,
        })
    }

    /// Converts a value. `key` is for messages.
    pub(crate) fn apply(&self, key: &str, value: Value) -> Result<Value, LookupError> {
        let converted = match &self.target {
            Target::Type(target) => convert::new_instance(target, value, &self.arguments),
            Target::Other(target) => convert::new_instance_of(target, value, &self.arguments),
            Target::Unknown { source, problem } => {
                return Err(LookupError::ConversionType {
                    key: key.to_owned(),
                    source_text: source.to_string(),
                    problem: problem.clone(),
                });
            }
        };
        converted.map_err(|error| LookupError::Conversion {
            key: key.to_owned(),
            error,
        })
    }

    /// Why it fails for every value.
    pub(crate) fn problem(&self) -> Option<String> {
        match &self.target {
            Target::Type(target) => match target.as_ref() {
                Type::Reference(name) => Some(format!("there is no type `{name}` here")),
                _ => None,
            },
            Target::Unknown { source, problem } => {
                Some(format!("`{source}` is not a type: {problem}"))
            }
            Target::Other(Value::Rich(rich)) if matches!(**rich, Rich::Type(_)) => None,
            Target::Other(other) => Some(format!(
                "`convert_to` must name a type, not {}",
                other.ruby_class()
            )),
        }
    }

    /// Does it make a secret of the value, or may it?
    pub(crate) fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// The type and the arguments as an explanation shows them.
    pub(crate) fn shown(&self) -> String {
        let target = match &self.target {
            Target::Type(target) => Value::from(Type::clone(target)),
            Target::Other(target) => target.clone(),
            Target::Unknown { source, .. } => Value::Str(source.clone()),
        };
        let all: Vec<Value> = std::iter::once(target)
            .chain(self.arguments.iter().cloned())
            .collect();
        convert::program_text(&all)
    }
}
