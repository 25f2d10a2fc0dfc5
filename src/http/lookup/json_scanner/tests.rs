use super::*;
use serde_json::value::RawValue;

/// Both accept the text and return the same slice, or both reject it.
fn check(text: &str) {
    let mut scanner = JsonScanner::new(text, 100);
    let scanned = scanner.value().and_then(|raw| scanner.end().map(|()| raw));
    let read = serde_json::from_str::<&RawValue>(text);
    assert_eq!(
        scanned.as_ref().ok().copied(),
        read.as_ref().ok().map(|raw| raw.get()),
        "{text}: {scanned:?} {read:?}"
    );
}

const GOOD: &[&str] = &[
    "{}",
    "[]",
    "0",
    "-0",
    "-1.5e+10",
    "1E5",
    "1e-2",
    "12345678901234567890",
    "true",
    "false",
    "null",
    r#""""#,
    r#""a""#,
    r#""12345678""#,
    r#""1234567\n89ü\u00fc\\""#,
    r#""\"\\\/\b\f\n\r\t""#,
    r#"{"a":1,"b":[1,2,{"c":null}],"d":{}}"#,
    " [ 1 , 2 ] ",
    "\t{ \"a\" :\n[ ] }\r\n",
    r#"[[[]],[[]]]"#,
    r#"{"":""}"#,
    r#""\ud800""#,
    // Longer than the chunks that are searched at once.
    r#"{"0123456789abcdef":"0123456789abcdef0","ü23456789abcdef":["0123456789\u00fcabcdef and\\more than that"]}"#,
];

#[test]
fn accepts_what_serde_json_accepts() {
    for text in GOOD {
        check(text);
    }
    for text in [
        "",
        " ",
        "{",
        "[",
        "]",
        "}",
        "{]",
        "[}",
        "{,}",
        "[,]",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "[1 2]",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "00",
        "-01",
        "tru",
        "nul",
        "truex",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"a\u{1}\"",
        "1 1",
        "[]]",
        "NaN",
        "'a'",
        "{\"a\":}",
        "{\"a\"::1}",
        "nulll",
        "\u{feff}1",
        "\u{a0}1",
        "[1\u{b}]",
    ] {
        check(text);
    }
}

#[test]
fn agrees_with_serde_json_on_texts_with_one_byte_changed() {
    let letters = b"{}[]\",:\\ue0-+.1 tn\n\x1f\x7f";
    for text in GOOD {
        for index in 0..text.len() {
            for letter in letters {
                let mut bytes = text.as_bytes().to_vec();
                bytes[index] = *letter;
                if let Ok(changed) = std::str::from_utf8(&bytes) {
                    check(changed);
                }
                bytes.remove(index);
                if let Ok(changed) = std::str::from_utf8(&bytes) {
                    check(changed);
                }
            }
        }
    }
}

#[test]
fn errors_have_a_position_and_nesting_is_limited() {
    let problem = |text| JsonScanner::new(text, 3).value().unwrap_err().to_string();
    assert_eq!(
        problem("{\n \"a\": x}"),
        "expected value at line 2 column 7"
    );
    assert_eq!(
        problem("[[[["),
        "the body is nested more than 3 deep at line 1 column 4"
    );
    assert!(JsonScanner::new("[[[]]]", 3).value().is_ok());
}
