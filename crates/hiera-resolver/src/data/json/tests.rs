use super::*;

fn read(text: impl AsRef<[u8]>) -> Result<Value, String> {
    parse(text.as_ref(), &mut |text| text.into()).map_err(|error| error.to_string())
}

#[track_caller]
fn check_error(text: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(read(text), Err(expected.to_owned()));
}

#[test]
fn every_key_and_string_goes_through_the_caller() {
    let mut seen = Vec::new();
    let result = parse(
        br#"{"a": ["b", "\u0063"], "d": "\ud83d\ude00"}"#,
        &mut |text| {
            seen.push(text.to_owned());
            text.into()
        },
    );
    assert!(result.is_ok());
    assert_eq!(seen, ["a", "b", "c", "d", "😀"]);
}

#[test]
fn a_repeated_key_keeps_its_first_position_and_its_last_value() {
    let value = read(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
    let entries: Vec<_> = value.as_hash().unwrap().iter().collect();
    assert_eq!(
        entries,
        [(&"a".into(), &Value::Int(3)), (&"b".into(), &Value::Int(2))]
    );
}

#[test]
fn comments_are_allowed_wherever_white_space_is() {
    let text = "/**/{//a\n\"a\"/*b*/:/***/1/* * / */,\"b\"://\n2}/**/";
    assert_eq!(read(text).unwrap().as_hash().unwrap().len(), 2);
}

#[test]
fn broken_text_becomes_bytes() {
    let bytes = |bytes: &[u8]| Ok(Value::Bytes(bytes.to_vec().into()));
    assert_eq!(read(b"\"\xFF\""), bytes(b"\xFF"));
    assert_eq!(read(r#""\udc00x""#), bytes(b"\xED\xB0\x80x"));
}

#[test]
fn half_a_surrogate_pair_drops_the_next_byte() {
    assert_eq!(read(r#""\ud800abcdef""#), Ok("?bcdef".into()));
    assert_eq!(read(r#""\ud800\n12345""#), Ok("?n12345".into()));
    assert_eq!(read(r#""\ud800\u0041""#), Ok("\u{10041}".into()));
}

#[test]
fn errors_name_the_position_and_what_was_expected() {
    check_error(
        "",
        "line 1, column 1: unexpected end of the text, expected a value",
    );
    check_error(
        "{\n  \"é\": é}",
        "line 2, column 8: unexpected character `é`, expected a value",
    );
    check_error(
        "[1,]",
        "line 1, column 4: unexpected character `]`, expected a value",
    );
    check_error(
        "01",
        "line 1, column 2: unexpected character `1`, expected the end of the text",
    );
    check_error(
        "[-Infinity]",
        "line 1, column 2: `-Infinity` is not a number in JSON",
    );
    check_error("1 // x", "line 1, column 3: comment without an end");
    check_error("[\"ab", "line 1, column 2: string without an end");
    check_error(
        "\"a\tb\"",
        "line 1, column 3: control character `\\t` in a string, write it as an escape",
    );
    check_error(
        r#""\u12""#,
        "line 1, column 2: `\\u` without four hexadecimal digits",
    );
    check_error(
        r#""ab\ud800""#,
        "line 1, column 4: incomplete surrogate pair",
    );
    check_error(
        b"[\xFF]",
        "line 1, column 2: unexpected character `\u{FFFD}`, expected a value",
    );
}

#[test]
fn nesting_is_limited() {
    assert!(read("[".repeat(100) + &"]".repeat(100)).is_ok());
    check_error(
        "[".repeat(100_000),
        "line 1, column 101: nesting of 100 levels exceeded",
    );
}

#[test]
fn rubys_message_quotes_the_text_from_where_it_gave_up() {
    let deep = "[".repeat(101);
    let cases: &[(&[u8], &str)] = &[
        (b"", "859: unexpected token at ''"),
        (
            b"{\"a\": [1], \"b\"}",
            "859: unexpected token at '{\"a\": [1], \"b\"}'",
        ),
        (
            b"{\"a\": [1, {\"b\"}]}",
            "451: unexpected token at '{\"b\"}]}'",
        ),
        (b"[1,]", "451: unexpected token at ']'"),
        (b"[1] x", "859: unexpected token at 'x'"),
        (b"{\"a\": [NaN]}", "225: unexpected token at 'NaN]}'"),
        (b"[Infinity]", "232: unexpected token at '[Infinity]'"),
        (b"Infinity", "232: unexpected token at ''"),
        (b"[-Infinity]", "249: unexpected token at '-Infinity]'"),
        (b"[01]", "451: unexpected token at '01]'"),
        (b"[1.5.2]", "451: unexpected token at '.5.2]'"),
        (b"[1.5e2-]", "451: unexpected token at '.5e2-]'"),
        (b"[-]", "451: unexpected token at '-]'"),
        (b"[1 /x]", "451: unexpected token at 'x]'"),
        (b"[1] /*", "859: unexpected token at ''"),
        (b"\"\\u12\"", "859: unexpected token at '\"\\u12\"'"),
        (
            b"{\"a\": \"x\\ny\\ud800\"}",
            "521: incomplete surrogate pair at 'y\\ud800\"}'",
        ),
        (b"[x\0y]", "451: unexpected token at 'x'"),
        (b"[\xFF]", "451: unexpected token at '\u{FFFD}]'"),
        (deep.as_bytes(), "nesting of 101 is too deep"),
    ];
    for (text, expected) in cases {
        let error = parse(text, &mut |text| text.into()).unwrap_err();
        assert_eq!(error.ruby_message, *expected, "{}", text.escape_ascii());
    }
}
