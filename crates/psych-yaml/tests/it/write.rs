//! Writes every recorded value and compares the output with Ruby's `to_yaml`.

use psych_yaml::{Problem, WriteError, Writer, Yaml, parse};
use serde_json::Value;

use crate::support;

#[test]
fn values_are_written_like_ruby() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../cases/write_cases.json")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let written = support::value(&case["value"]).to_yaml().unwrap();
        if Some(written.as_str()) != case["yaml"].as_str() {
            wrong.push(format!("{case}: {written:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn output_is_read_back() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../cases/write_cases.json")).unwrap();
    for case in &cases {
        let text = case["yaml"].as_str().unwrap();
        let value = support::value(&case["value"]);
        match parse(text.as_bytes()) {
            Ok(read) => {
                let again = read.unwrap().to_yaml().unwrap();
                // A symbol of two lines is read as a string, and so are bytes that are UTF-8.
                let lost = matches!(&value, Yaml::Symbol(name) if name.contains('\n'))
                    || matches!(&value, Yaml::Bytes(bytes) if bytes == "é".as_bytes());
                assert_eq!(again == text, !lost, "{value:?}");
            }
            // Psych does not quote a day that does not exist, but Puppet refuses it as a date.
            Err(error) => assert!(matches!(error.problem(), Problem::Class { .. }), "{error}"),
        }
    }
}

#[test]
fn strings_that_ruby_cannot_write_are_quoted() {
    // `"0x_".to_yaml` raises, since Psych first tries to read the string.
    for (text, written) in [
        ("0x_", "--- '0x_'\n"),
        ("0b,", "--- '0b,'\n"),
        ("2001-01-01\t10:10:10", "--- \"2001-01-01\\t10:10:10\"\n"),
    ] {
        let mut writer = Writer::new();
        writer.string(text);
        assert_eq!(writer.finish().as_deref(), Ok(written));
    }
}

#[test]
fn incomplete_documents_are_errors() {
    fn check(parts: impl FnOnce(&mut Writer), expected: WriteError) {
        let mut writer = Writer::new();
        parts(&mut writer);
        assert_eq!(writer.finish(), Err(expected));
    }
    check(|_| {}, WriteError::NoValue);
    check(
        |writer| {
            writer.null();
            writer.null();
        },
        WriteError::SecondValue,
    );
    check(Writer::begin_sequence, WriteError::Unended);
    check(
        Writer::end_mapping,
        WriteError::UnexpectedEnd { kind: "mapping" },
    );
    check(
        |writer| {
            writer.begin_mapping();
            writer.end_sequence();
        },
        WriteError::UnexpectedEnd { kind: "sequence" },
    );
    check(
        |writer| {
            writer.begin_mapping();
            writer.integer(1);
            writer.end_mapping();
        },
        WriteError::NoValueForKey,
    );
}
