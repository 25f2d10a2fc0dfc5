//! [`Json`]: JSON compared exactly: order of keys, repeated keys, integer against float, integers of any size.
//!
//! `serde_json` keeps the order of keys, but neither integers beyond 64 bits nor repeated keys. Here an object is the
//! list of its members, and an integer is its digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value. Two values are equal if they have the same kind and the same members in the same order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent: its digits.
    Integer(String),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'n') => Json::Null,
            Some(b't') => Json::Bool(true),
            Some(b'f') => Json::Bool(false),
            Some(b'"') => Json::Text(serde_json::from_str(text)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                let items: Result<_, _> = items.into_iter().map(Self::from_raw).collect();
                Json::Array(items?)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text)?;
                let members: Result<_, serde_json::Error> = members
                    .into_iter()
                    .map(|(name, value)| Ok((name, Self::from_raw(value)?)))
                    .collect();
                Json::Object(members?)
            }
            _ if text.contains(['.', 'e', 'E']) => Json::Float(serde_json::from_str(text)?),
            _ if text == "-0" => Json::Integer("0".to_owned()),
            _ => Json::Integer(text.to_owned()),
        })
    }

    /// The member of an object with this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members()
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The members of an object; empty for other values.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object with a member set: replaced where it exists, else appended.
    pub fn with(mut self, name: &str, value: Json) -> Self {
        if let Json::Object(members) = &mut self {
            match members.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = value,
                None => members.push((name.to_owned(), value)),
            }
        }
        self
    }

    /// The object without a member.
    pub fn without(mut self, name: &str) -> Self {
        if let Json::Object(members) = &mut self {
            members.retain(|(known, _)| known != name);
        }
        self
    }

    /// Replaces text in every string, including keys.
    pub fn replace(&self, old: &str, new: &str) -> Json {
        match self {
            Json::Text(text) => Json::Text(text.replace(old, new)),
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| item.replace(old, new)).collect())
            }
            Json::Object(members) => Json::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.replace(old, new), value.replace(old, new)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::to_string(text).map_err(|_| fmt::Error);
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(flag) => write!(out, "{flag}"),
            Json::Integer(digits) => out.write_str(digits),
            Json::Float(number) => write!(out, "{number:?}"),
            Json::Text(text) => out.write_str(&quoted(text)?),
            Json::Array(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index > 0 { ", " } else { "" })?;
                }
                out.write_str("]")
            }
            Json::Object(members) => {
                out.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(out, "{comma}{}: {value}", quoted(name)?)?;
                }
                out.write_str("}")
            }
        }
    }
}

/// The members of an object in the order of the text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_and_printing_keeps_order_repeated_keys_and_numbers() {
        let text = r#"{"b": 1, "a": [1.0, 123456789012345678901234567890, "ü\n"], "b": null}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
        assert_ne!(Json::parse("1").unwrap(), Json::parse("1.0").unwrap());
        assert_ne!(
            Json::parse(r#"{"a":1,"b":2}"#).unwrap(),
            Json::parse(r#"{"b":2,"a":1}"#).unwrap()
        );
        assert!(Json::parse("[1] x").is_err());
    }
}
