//! [`DottedValues`]: `os.family=Debian` and the like as nested hashes.

use hiera_resolver::{Hash, Value};

/// Why a value cannot be set.
pub(super) enum Conflict {
    /// It has been set before.
    Repeated,
    /// It would be both a value and an object.
    ValueAndMembers,
}

/// Values by dotted names.
#[derive(Debug, Default)]
pub(super) struct DottedValues {
    members: Vec<(String, Member)>,
}

#[derive(Debug)]
enum Member {
    Text(String),
    Object(DottedValues),
}

impl DottedValues {
    /// Sets the value at a path of names.
    pub(super) fn set(&mut self, path: &str, value: String) -> Result<(), Conflict> {
        let mut object = self;
        let mut path = path;
        while let Some((name, rest)) = path.split_once('.') {
            object = object.object(name)?;
            path = rest;
        }
        match object.members.iter().find(|(known, _)| known == path) {
            Some((_, Member::Text(_))) => Err(Conflict::Repeated),
            Some((_, Member::Object(_))) => Err(Conflict::ValueAndMembers),
            None => {
                let member = (path.to_owned(), Member::Text(value));
                object.members.push(member);
                Ok(())
            }
        }
    }

    /// The object of this name, made if there is none.
    fn object(&mut self, name: &str) -> Result<&mut DottedValues, Conflict> {
        let known = self.members.iter().position(|(known, _)| known == name);
        let index = known.unwrap_or_else(|| {
            let object = Member::Object(DottedValues::default());
            self.members.push((name.to_owned(), object));
            self.members.len() - 1
        });
        match self.members.get_mut(index) {
            Some((_, Member::Object(object))) => Ok(object),
            _ => Err(Conflict::ValueAndMembers),
        }
    }

    pub(super) fn to_hash(&self) -> Hash {
        self.members
            .iter()
            .map(|(name, member)| {
                let value = match member {
                    Member::Text(text) => Value::str(text),
                    Member::Object(object) => Value::hash(object.to_hash()),
                };
                (Value::str(name), value)
            })
            .collect()
    }
}
