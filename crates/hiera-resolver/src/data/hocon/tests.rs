use std::fmt::Write;

use super::*;

fn read(text: impl AsRef<[u8]>) -> Result<Value, String> {
    parse(text.as_ref(), &mut |text| text.into()).map_err(|error| error.to_string())
}

/// A value as JSON, with the order of its keys.
fn render(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Str(text) => format!("{text:?}"),
        Value::Array(array) => {
            let items: Vec<_> = array.items().iter().map(render).collect();
            format!("[{}]", items.join(","))
        }
        Value::Hash(hash) => {
            let mut out = String::from("{");
            for (index, (key, value)) in hash.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(out, "{comma}{}:{}", render(key), render(value)).unwrap();
            }
            out + "}"
        }
        other => format!("{other:?}"),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(
        read(text).map(|value| render(&value)),
        Ok(expected.to_owned())
    );
}

#[track_caller]
fn check_error(text: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(read(text), Err(expected.to_owned()));
}

/// Answers recorded from Ruby: texts `s` with their result `r`, or an error.
#[track_caller]
fn check_recorded(recorded: &str, count: usize) {
    let cases = crate::data::json::parse(recorded.as_bytes(), &mut |text| text.into()).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), count);
    for case in cases {
        let case = case.as_hash().unwrap();
        let text = case.get("s").and_then(Value::as_str).unwrap();
        let expected = case.get("r").map(render);
        assert_eq!(
            read(text).ok().map(|value| render(&value)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn recorded_texts_are_read_as_ruby_reads_them() {
    check_recorded(include_str!("../../../tests/cases/hocon_cases.json"), 42);
}

#[test]
fn generated_texts_are_read_as_ruby_reads_them() {
    check_recorded(
        include_str!("../../../tests/cases/hocon_generated_cases.json"),
        500,
    );
}

#[test]
fn every_key_and_string_goes_through_the_caller() {
    let mut seen = Vec::new();
    let result = parse(b"a.b = x y\n\"c\" = [\"d\", 1]", &mut |text| {
        seen.push(text.to_owned());
        text.into()
    });
    assert!(result.is_ok());
    seen.sort();
    assert_eq!(seen, ["a", "b", "c", "d", "x y"]);
}

#[test]
fn a_merge_puts_the_newest_keys_first() {
    check(
        "a{x=1,y=1}\nb=1\na{z=2,y=2}",
        r#"{"a":{"z":2,"y":2,"x":1},"b":1}"#,
    );
    check("a={x=1} {y=2}", r#"{"a":{"y":2,"x":1}}"#);
    check(
        "c{y=2}\nb=${c}\nb{x=1}",
        r#"{"c":{"y":2},"b":{"x":1,"y":2}}"#,
    );
}

#[test]
fn an_object_over_a_scalar_does_not_see_what_is_below() {
    check("a={x=1}\na=2\na={y=3}", r#"{"a":{"y":3}}"#);
}

#[test]
fn numbers_are_read_as_ruby_reads_them() {
    check(
        "a=[010, 08, -0, 1.0, 1., -.5, 1.2.3, 1e22, 1-2, 1e-400]",
        r#"{"a":[8,"08",0,1,"1.",-0.5,"1.2.3",10000000000000000000000,"1-2",0]}"#,
    );
    check_error("a=1e999", "line 1, column 3: number out of range");
    check_error(
        "a=1+2",
        "line 1, column 3: `+` must stand in double quotes here",
    );
    check_error(
        "a=".to_owned() + &"9".repeat(60_000),
        "line 1, column 3: number out of range",
    );
}

#[test]
fn words_at_the_start_of_text_are_words() {
    check(
        "a=[true, truex, nullish, \"null\"]",
        r#"{"a":[true,"truex","nullish","null"]}"#,
    );
    check("true.null = 1", r#"{"true":{"null":1}}"#);
}

#[test]
fn unquoted_text_behind_a_collection_is_dropped() {
    check("a=[1] foo\nb={x=1} foo bar", r#"{"a":[1],"b":{"x":1}}"#);
    check_error(
        "a=[1] \"foo\"",
        "line 1, column 7: a list or an object cannot be joined with text",
    );
    check_error(
        "a=[1] {b=1}",
        "line 1, column 7: a list or an object cannot be joined with one of the other kind",
    );
}

#[test]
fn escapes_are_lenient_but_for_the_underscore() {
    check(r#"a="\u00e9\u0041\/\t""#, "{\"a\":\"éA/\\t\"}");
    check(r#"a="\u12"x""#, r#"{"a":"\u{12}"}"#);
    check_error(
        r#"a="\u005f""#,
        "line 1, column 4: `\\u` without four hexadecimal digits, or with the ones of an underscore",
    );
    check_error(r#"a="\q""#, "line 1, column 4: unknown escape in a string");
}

#[test]
fn triple_quotes_allow_anything() {
    check("a=\"\"\"x\\n\"y\"\n\"\"\"\"", r#"{"a":"x\\n\"y\"\n\""}"#);
    let bytes = read(b"a=\"\"\"\xFF\"\"\"").unwrap();
    let hash = bytes.as_hash().unwrap();
    assert_eq!(hash.get("a"), Some(&Value::Bytes(b"\xFF".to_vec().into())));
    check_error(b"a=\"\xFF\"", "line 1, column 4: text that is not UTF-8");
}

#[test]
fn substitutions_look_back_and_never_outside() {
    check("a=1\na=${a}2\na=${a}3", r#"{"a":"123"}"#);
    check("a=${?PATH}\nb=${?HOME}x", r#"{"b":"x"}"#);
    check_error("a=1\nb=${PATH}", "line 2, column 3: `${PATH}` has no value");
    check_error(
        "a=${b.c}\nb.c=${a}",
        "line 2, column 5: `${a}` needs its own value",
    );
    check("a=${?b}\nb=${?a}", "{}");
    check("p=[1]\np=${p} [2]\np+=3", r#"{"p":[1,2,3]}"#);
}

#[test]
fn what_the_library_cannot_resolve_fails() {
    let message = "these substitutions and merges are beyond what the HOCON library can resolve";
    check_error(
        "a=[{b=${x},b=${y}}]\nx=1\ny=2",
        &format!("line 1, column 14: {message}"),
    );
    check_error(
        "a{b=${c}}\na{b{x=1}}\nc{y=2}",
        &format!("line 2, column 4: {message}"),
    );
}

#[test]
fn include_reads_nothing() {
    check(
        "include \"/etc/hostname\"\na=1\nb { include \"x.conf\" }",
        r#"{"a":1,"b":{}}"#,
    );
    check_error(
        "a=1\ninclude file(\"/etc/hostname\")",
        "line 2, column 1: `include` of `file(...)` is not supported",
    );
    check_error(
        "include \"http://localhost/\"",
        "line 1, column 1: `include` of a URL is not supported",
    );
    check_error(
        "include url(\"http://localhost/\")",
        "line 1, column 1: `include` of `url(...)` or `classpath(...)` is not supported",
    );
}

#[test]
fn errors_name_the_position_and_what_was_expected() {
    check_error(
        "a = = b",
        "line 1, column 5: unexpected `=`, expected a value",
    );
    check_error(
        "é {\n  b",
        "line 2, column 4: unexpected end of the text, expected `:`, `=` or `{` after a key",
    );
    check_error(
        "{a=1 b=2}",
        "line 1, column 7: unexpected `=`, expected a comma or a line break",
    );
    check_error(
        "k = [1\n",
        "line 2, column 1: unexpected end of the text, expected a value",
    );
    check_error(
        "[1]",
        "line 1, column 1: the document is a list, expected an object",
    );
    check_error(
        "a..b=1",
        "line 1, column 1: path with an empty part, write it as `\"\"` if it is meant",
    );
    check_error("a=\"x", "line 1, column 3: string without an end");
    check_error(
        "a=\"x\ny\"",
        "line 1, column 5: control character `\\n` in a string, write it as an escape",
    );
    check_error("a=${b", "line 1, column 3: substitution without an end");
    check_error(
        "a=${b,c}",
        "line 1, column 6: unexpected `,`, expected a path and `}`",
    );
    check_error(
        "a=[{b+=1}]",
        "line 1, column 5: `+=` does not work inside a list",
    );
    check_error(
        "a=b@c",
        "line 1, column 4: `@` must stand in double quotes here",
    );
}

#[test]
fn nesting_is_limited() {
    let nested = |levels: usize| format!("a={}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(nested(255)).is_ok());
    for text in [
        nested(100_000),
        "a{".repeat(100_000),
        "a.".repeat(100_000) + "a=1",
        "a=${".repeat(100_000),
        "a=".to_owned() + &"[{b=".repeat(100_000),
    ] {
        assert!(read(text).is_err());
    }
    let chain: String = (0..5000)
        .map(|n| format!("a{n}=${{a{}}}\n", n + 1))
        .collect();
    check_error(
        chain + "a5000=1",
        "line 1, column 1: substitutions refer to each other too many times",
    );
    let chain: String = (0..300)
        .map(|n| format!("a{n}=${{a{}}}\n", n + 1))
        .collect();
    assert!(read(chain + "a300=1").is_ok());
    let deeper: String = (0..70)
        .map(|n| format!("a{n}=[[[[${{a{}}}]]]]\n", n + 1))
        .collect();
    assert!(
        read(deeper + "a70=1")
            .unwrap_err()
            .ends_with("nesting of 256 levels exceeded")
    );
}

#[test]
fn substitutions_that_multiply_are_stopped() {
    let multiplied = |item: &str| -> String {
        let lines = (0..60).map(|n| {
            let next = format!("${{a{}}}", n + 1);
            format!("a{n}={}\n", item.replace('X', &next))
        });
        lines.collect::<String>() + "a60=12345678"
    };
    for text in [
        multiplied("XX"),
        multiplied("[X,X]"),
        multiplied("{x=X,y=X}"),
        "a=[0]\n".to_owned() + &"a+=1\n".repeat(40),
        "a=1\n".to_owned() + &"a=${a}${a}\n".repeat(40),
        "a{b=1}\n".to_owned() + &"a{c=${a}}\n".repeat(40),
    ] {
        assert!(read(text).is_err());
    }
}

#[test]
fn broken_texts_never_panic() {
    let text =
        "a{x=1,\"b.c\":[1,${?x}]}\nb=${a} {y=\"\\u0041\"} // c\na.x+=2\nc=\"\"\"t\"\"\"${b.y}é";
    let bytes = text.as_bytes();
    let pieces: &[&[u8]] = &[
        b"${", b"}", b"[", b"]", b"\"", b"+=", b"\n", b".", b"\\u", b"\xFF", b"1e", b"\"\"\"",
    ];
    let mut read_well = 0;
    for at in 0..bytes.len() {
        for end in [at, at + 1, at + 5, bytes.len()] {
            for piece in pieces {
                let rest = bytes.get(end..).unwrap_or_default();
                read_well += usize::from(read([&bytes[..at], piece, rest].concat()).is_ok());
            }
        }
    }
    assert_ne!(read_well, 0);
}

#[test]
fn large_files_are_read_in_linear_time() {
    let mut text = String::from("base=/opt\n");
    for number in 0..20_000 {
        writeln!(text, "key{number} = ${{base}}/{number}").unwrap();
    }
    assert_eq!(read(text).unwrap().as_hash().unwrap().len(), 20_001);
}

#[test]
fn rubys_message_names_the_token_at_which_it_gave_up() {
    let cases = [
        (
            "k = [1\n",
            "String: 2: List should have had new element after a comma, instead had token: end of file (if you want the comma or end of file to be part of a string value, then double-quote it)",
        ),
        (
            "k = [1 }",
            "String: 1: List should have ended with ] or had a comma, instead had token: '}' (if you want '}' to be part of a string value, then double-quote it)",
        ),
        (
            "a {\n b = 1\n",
            "String: 3: expecting a close brace or a field name here, got end of file",
        ),
        (
            "a\nb = 1",
            "String: 2: Key 'a' may not be followed by token: 'b' (if you intended 'b' to be part of a key or string value, try enclosing the key or value in double quotes",
        ),
        (
            "a = 1 = 2",
            "String: 1: Expecting close brace } or a comma, got '=' (if you intended '=' to be part of a key or string value, try enclosing the key or value in double quotes",
        ),
        (
            "a = 5 : 2",
            "String: 1: Expecting close brace } or a comma, got ':' (if you intended ':' to be part of a key or string value, try enclosing the key or value in double quotes",
        ),
        (
            "a = \"x",
            "String: 1: Expecting a value but got wrong token: '-1' (End of input but string quote was still open) (if you intended '-1' (End of input but string quote was still open) to be part of a key or string value, try enclosing the key or value in double quotes",
        ),
        (
            "a = 1\nb = ${x.\"y z\"}",
            "String: 2: Could not resolve substitution to a value: ${x.\"y z\"}",
        ),
        (
            "a..b = 1",
            "path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty string if you want an empty element)",
        ),
        (
            "a = ${}",
            "String: 1: Expecting a field name or path here, but got nothing",
        ),
    ];
    for (text, expected) in cases {
        let error = parse(text.as_bytes(), &mut |text| text.into()).unwrap_err();
        assert_eq!(error.ruby_message.as_deref(), Some(expected), "{text:?}");
    }
    let unexpected = parse(br#"a = "\q""#, &mut |text| text.into()).unwrap_err();
    assert_eq!(unexpected.ruby_message, None);
}

#[test]
fn endless_nesting_is_refused_with_a_short_message() {
    for text in ["[", "a={", "${", "[[1,"] {
        let error = parse(text.repeat(100_000).as_bytes(), &mut |text| text.into()).unwrap_err();
        assert_eq!(error.ruby_message, None, "{text}");
        let text = text.repeat(100_000) + "@";
        assert!(parse(text.as_bytes(), &mut |text| text.into()).is_err());
    }
}
