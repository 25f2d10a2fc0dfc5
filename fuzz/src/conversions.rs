//! `convert_to`: what is made of a value is of the type that it was made for.
//!
//! The first line of an input is the type, the rest is a JSON array of the value and further arguments, or else the value
//! as text.

use crate::api::{Type, Value, json, new_instance, stringify};

/// Texts with a meaning in conversions.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "Integer",
    "Integer[0, 10]",
    "Float",
    "Numeric",
    "Boolean",
    "String",
    "Array",
    "Hash",
    "Tuple[Integer]",
    "Struct[{a => Integer}]",
    "Optional[Integer]",
    "Variant[Integer, String]",
    "Sensitive",
    "Binary",
    "SemVer",
    "SemVerRange",
    "Timestamp",
    "Timespan",
    "URI",
    "Regexp",
    "Type",
    "Init[Integer, 16]",
    "NotUndef",
    "Sensitive[String]",
    "0x1F",
    "0b101",
    "017",
    " 1_0 ",
    "-1.5e3",
    "1e400",
    "%d",
    "%#x",
    "%+05.3f",
    "%s",
    "%p",
    "%-10s",
    "%Y-%m-%d",
    "%H:%M:%S.%L",
    "%D-%H",
    "2020-02-29T10:00:00.5 UTC",
    "1-02:03:04.5",
    "1.2.3-rc1+b",
    ">=1.0.0 <2.0.0",
    "http://u@h:80/p?q#f",
    "YWI=",
    "%b",
    "%x",
    "%e",
    "%a",
    "%B",
    "%u",
    "tree",
    "hash_tree",
    "true",
    "yes",
    "null",
    "default",
    "{\"format\":\"%d\"}",
    "{\"separator\":\",\"}",
    "%[d",
    "%(a",
    "ü",
];

/// Checks one input.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (ty, value) = input.split_once('\n').unwrap_or((input, ""));
    let Ok(ty) = Type::parse(ty) else {
        return;
    };
    let read = json::parse(value.as_bytes(), &mut |text| Value::str(text));
    let mut arguments = match read {
        Ok(Value::Array(array)) => array.items().to_vec(),
        Ok(other) => vec![other],
        Err(_) => vec![Value::str(value)],
    };
    if arguments.is_empty() {
        return;
    }
    let value = arguments.remove(0);
    match new_instance(&ty, value, &arguments) {
        Ok(made) => {
            assert!(ty.is_instance(&made), "{made:?} is no {ty}");
            _ = stringify(&made);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
