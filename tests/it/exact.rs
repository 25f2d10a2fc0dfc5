//! JSON with everything that matters kept.
//!
//! `serde_json` keeps the order of keys, but not integers beyond 64 bits nor keys that occur twice. Here an object
//! is the list of its members and an integer is its digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value. Equal are values of the same kind, with the same members in the same order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// Its digits.
    Integer(String),
    Float(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Self::of_raw(raw)
    }

    fn of_raw(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'n') => Json::Null,
            Some(b't') => Json::Bool(true),
            Some(b'f') => Json::Bool(false),
            Some(b'"') => Json::Text(serde_json::from_str(text)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                let items: Result<_, _> = items.into_iter().map(Self::of_raw).collect();
                Json::Array(items?)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text)?;
                let members: Result<_, serde_json::Error> = members
                    .into_iter()
                    .map(|(name, value)| Ok((name, Self::of_raw(value)?)))
                    .collect();
                Json::Object(members?)
            }
            _ if text.contains(['.', 'e', 'E']) => Json::Float(serde_json::from_str(text)?),
            _ if text == "-0" => Json::Integer("0".to_owned()),
            _ => Json::Integer(text.to_owned()),
        })
    }

    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.members()
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The text, where it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object with a member set: in its place where it was there before, else last.
    pub(crate) fn with(mut self, name: &str, value: Json) -> Self {
        if let Json::Object(members) = &mut self {
            match members.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = value,
                None => members.push((name.to_owned(), value)),
            }
        }
        self
    }

    /// The object without a member.
    pub(crate) fn without(mut self, name: &str) -> Self {
        if let Json::Object(members) = &mut self {
            members.retain(|(known, _)| known != name);
        }
        self
    }

    /// Replaces text in every string, keys too.
    pub(crate) fn replace(&self, old: &str, new: &str) -> Json {
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
                for (place, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if place > 0 { ", " } else { "" })?;
                }
                out.write_str("]")
            }
            Json::Object(members) => {
                out.write_str("{")?;
                for (place, (name, value)) in members.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(out, "{comma}{}: {value}", quoted(name)?)?;
                }
                out.write_str("}")
            }
        }
    }
}

/// The members of an object as they stand there.
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

#[test]
fn nothing_that_matters_is_lost() {
    let text = r#"{"b": 1, "a": [1.0, 123456789012345678901234567890, "ü\n"], "b": null}"#;
    assert_eq!(Json::parse(text).unwrap().to_string(), text);
    assert_ne!(Json::parse("1").unwrap(), Json::parse("1.0").unwrap());
    assert_ne!(
        Json::parse(r#"{"a":1,"b":2}"#).unwrap(),
        Json::parse(r#"{"b":2,"a":1}"#).unwrap()
    );
    assert!(Json::parse("[1] x").is_err());
}
