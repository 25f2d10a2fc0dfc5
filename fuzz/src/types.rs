//! Puppet's types: read, written and read again; and checks of values that agree with their messages.

use std::cell::OnceCell;

use crate::api::{Type, Value, assert_instance, json};

/// Texts with a meaning in types.
pub const DICTIONARY: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    ",",
    "=>",
    "|",
    "'",
    "\"",
    "/",
    "\\",
    "(",
    ")",
    "-",
    "0",
    "1",
    "-1",
    "1.5",
    "0x1F",
    "017",
    "default",
    "undef",
    "true",
    "false",
    "Any",
    "Array[",
    "Hash[",
    "Integer[",
    "Float[",
    "String[",
    "Enum[",
    "Pattern[/",
    "Regexp[/",
    "Tuple[",
    "Struct[{",
    "Optional[",
    "NotUndef[",
    "Variant[",
    "Type[",
    "Sensitive[",
    "Callable[",
    "Init[",
    "SemVer[",
    "SemVerRange",
    "Timestamp[",
    "Timespan[",
    "URI[",
    "Class[",
    "Resource[",
    "Runtime[",
    "Iterable[",
    "Iterator[",
    "Collection[",
    "Boolean[",
    "Scalar",
    "ScalarData",
    "Data",
    "RichData",
    "Numeric",
    "CatalogEntry",
    "Undef",
    "Default",
    "Unit",
    "Object[{",
    "TypeSet",
    "Binary",
    "Foo::Bar",
    "File['/a']",
    "Target",
    "Error[",
    "Array[Integer, 1, 2]",
    "'>=1.0.0 <2.0.0'",
    "'2020-01-01'",
    "'1-02:03:04'",
    "Struct[{Optional[a] => Integer}]",
    "Callable[[String], Integer]",
    "# c\n",
    "\n",
    " ",
    "ü",
    "inherits",
];

/// Checks one text.
pub fn check(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let parsed = match Type::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    check_text(&parsed);
    check_values(&parsed);
}

/// A type is written as text that is read as the same type.
fn check_text(ty: &Type) {
    let shown = ty.to_string();
    // Puppet writes these and does not read them, or not as the same: a union of ranges of versions, a pattern with
    // characters that it escapes or that are not ASCII, a float such as `1.0e+38`, a text with two backslashes.
    const ONE_WAY: [&str; 9] = [
        r"\\",
        "TypeReference",
        "Unit",
        "Class[",
        "Runtime[",
        "SemVer[",
        "(?-mix:",
        "\\x",
        "e+",
    ];
    if ONE_WAY.iter().any(|it| shown.contains(it)) {
        return;
    }
    let again = Type::parse(&shown);
    let shown_again = again.as_ref().map(ToString::to_string);
    assert_eq!(shown_again.as_ref(), Ok(&shown), "{ty:?}");
    assert_eq!(again.as_ref(), Ok(ty), "{shown}");
}

thread_local! {
    static VALUES: OnceCell<Vec<Value>> = const { OnceCell::new() };
}

const VALUES_AS_JSON: &str = r#"[
    null, true, 0, -1, 9223372036854775808, 1.5, "", "a", "2020-01-01", "1.2.3", "http://example.com/a", [], [1], ["a", null],
    [[1, "a"], {"a": 1}], {}, {"a": 1}, {"a": null, "b": [1.5]}, {"name": {"value": "x"}}
]"#;

/// A value is an instance exactly where there is no mismatch to tell of.
fn check_values(ty: &Type) {
    VALUES.with(|values| {
        let values = values.get_or_init(|| {
            let read = json::parse(VALUES_AS_JSON.as_bytes(), &mut |text| Value::str(text));
            read.unwrap_or_default()
                .as_array()
                .unwrap_or_default()
                .to_vec()
        });
        assert!(!values.is_empty());
        for value in values {
            let mismatch = assert_instance("The value", ty, value);
            assert_eq!(ty.is_instance(value), mismatch.is_ok(), "{ty}: {value:?}");
            if let Err(mismatch) = mismatch {
                let text = mismatch.to_string();
                // Puppet has no words for some mismatches.
                let is_message = text.is_empty() || text.contains("The value");
                assert!(is_message, "{ty}: {value:?}: {text:?}");
            }
        }
    });
}
