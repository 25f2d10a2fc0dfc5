use super::*;

/// The resolved value in short form.
fn shown(text: &str) -> String {
    match resolve(text) {
        Ok(Resolved::Scalar(Scalar::String(string))) => {
            assert_eq!(string, text);
            "string".to_owned()
        }
        Ok(Resolved::Scalar(scalar)) => format!("{scalar:?}"),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{error:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text:?}");
    }
}

#[test]
fn words() {
    check(&[
        ("", "Null"),
        ("~", "Null"),
        ("nULL", "Null"),
        ("on", "Bool(true)"),
        ("YES", "Bool(true)"),
        ("True", "Bool(true)"),
        ("off", "Bool(false)"),
        ("No", "Bool(false)"),
        ("y", "string"),
        ("N", "string"),
        ("yeſ", "Bool(true)"),
        ("oﬀ", "Bool(false)"),
        ("^", "string"),
        ("nullable", "string"),
    ]);
}

#[test]
fn words_match_on_any_line() {
    check(&[
        ("yes\n", "Bool(true)"),
        ("on\nn", "Bool(true)"),
        ("no\non", "Bool(true)"),
        ("\non", "string"),
        ("on\nx", "string"),
        ("on\n\n", "string"),
        ("~\n", "string"),
        ("true\nn", "string"),
        ("5\n", "string"),
        (":a\nb", "string"),
    ]);
}

#[test]
fn symbols() {
    check(&[
        (":", "string"),
        (":a", "Symbol(\"a\")"),
        ("::a::b", "Symbol(\":a::b\")"),
        (":\"a b\" c", "Symbol(\"a b\")"),
        (":'a'b'c", "Symbol(\"a'b\")"),
        (":\":a\"", "Symbol(\"a\")"),
        (":\"a'", "Symbol(\"\\\"a'\")"),
        (":\"\"", "Symbol(\"\")"),
        (":1", "Symbol(\"1\")"),
    ]);
}

#[test]
fn integers() {
    check(&[
        ("0", "Integer(0)"),
        ("-0", "Integer(0)"),
        ("+12", "Integer(12)"),
        ("017", "Integer(15)"),
        ("0_7,", "Integer(7)"),
        ("08", "string"),
        ("0o7", "string"),
        ("0b1_01", "Integer(5)"),
        ("-0x1F", "Integer(-31)"),
        ("0X1F", "string"),
        ("80,443", "Integer(80443)"),
        ("1__0", "string"),
        ("1_", "string"),
        ("-9223372036854775808", "Integer(-9223372036854775808)"),
        ("9223372036854775808", "BigInteger(9223372036854775808)"),
        ("0x_", "Number { text: \"0x\", kind: Integer }"),
        ("-0b,", "Number { text: \"-0b\", kind: Integer }"),
        ("1a", "string"),
        ("192.168.0.1", "string"),
    ]);
}

#[test]
fn floats() {
    check(&[
        ("1.5", "Float(1.5)"),
        ("1.", "Float(1.0)"),
        (".5", "Float(0.5)"),
        ("-.5", "Float(-0.5)"),
        ("1_0,0.25", "Float(100.25)"),
        ("1.5e+3", "Float(1500.0)"),
        ("1.e-1", "Float(0.1)"),
        ("1.5e3", "string"),
        ("1e3", "string"),
        ("1.5e+", "string"),
        ("1.2.3", "string"),
        ("1.5_0", "string"),
        (".", "string"),
        ("-.", "string"),
        (".e+3", "Number { text: \"e+3\", kind: Float }"),
        (".inf", "Float(inf)"),
        ("-.INF", "Float(-inf)"),
        (".NaN", "Float(NaN)"),
        ("+.nan", "string"),
        ("1.0e+400", "Float(inf)"),
    ]);
}

#[test]
fn sexagesimal_numbers_start_with_hours() {
    check(&[
        ("1:30", "Integer(5400)"),
        ("-1:30", "Integer(-1800)"),
        ("1:30:15", "Integer(5415)"),
        ("1:30.5", "Float(5430.0)"),
        ("1:30:15.5", "Float(5415.5)"),
        ("1_0:00", "Integer(36000)"),
        ("1__0:00", "Integer(3600)"),
        ("1:60", "string"),
        ("1,0:30", "string"),
        ("1:2:3:4", "string"),
        ("1:", "string"),
    ]);
}

#[test]
fn times_and_dates() {
    check(&[
        ("2020-01-01", "Date"),
        ("2020-2-30", "Date"),
        ("2020-13-01", "string"),
        ("2020-01-32", "string"),
        ("+2020-01-01", "string"),
        ("2020-01-01 1:02:03", "Time"),
        ("-2020-01-01T01:02:03Z", "Time"),
        ("2020-01-01\t01:02:03.5 +530", "Time"),
        ("2020-01-01 01:02:03 -05:", "Time"),
        ("2020-01-01 01:02:03 +5:3", "string"),
        ("2020-01-01 01:02", "string"),
        ("2020-01-01x01:02:03", "string"),
    ]);
}

#[test]
fn nonexistent_days_and_hours_are_not_representable() {
    for day in [
        "2020-02-29",
        "1500-02-29",
        "1582-10-04",
        "1582-10-15",
        "0000-1-1",
    ] {
        assert!(is_representable_date(day), "{day}");
    }
    for day in [
        "2020-02-30",
        "1900-02-29",
        "1582-10-10",
        "2020-00-01",
        "2020-04-31",
    ] {
        assert!(!is_representable_date(day), "{day}");
    }
    for time in ["2020-02-31 24:00:00", "2020-01-01 23:59:60 +22:99"] {
        assert!(is_representable_time(time), "{time}");
    }
    for time in [
        "2020-01-32 01:00:00",
        "2020-01-01 24:00:01",
        "2020-01-01 01:00:00 +24",
    ] {
        assert!(!is_representable_time(time), "{time}");
    }
}
