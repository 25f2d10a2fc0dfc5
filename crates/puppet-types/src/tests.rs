//! What the recorded cases do not cover: positions of errors, limits, and recursive types.

use puppet_values::Value;

use super::*;

fn error(text: &str) -> String {
    Type::parse(text).unwrap_err().to_string()
}

#[test]
fn errors_have_a_position() {
    for (text, expected) in [
        ("Integer[]", "Syntax error at ']' (line: 1, column: 9)"),
        (
            "Array[\n  Integer,\n  ,]",
            "Syntax error at ',' (line: 3, column: 3)",
        ),
        ("Integer[", "Syntax error at end of input"),
        ("Integer|String", "Syntax error at '|' (line: 1, column: 8)"),
        ("Enum[in]", "Syntax error at 'in' (line: 1, column: 6)"),
        (
            "Integer[09]",
            "Not a valid octal number 09 (line: 1, column: 9)",
        ),
        (
            "Integer[1_000]",
            "Illegal number '1_000' (line: 1, column: 9)",
        ),
        (
            "Integer[0Xg]",
            "Not a valid hex number 0Xg (line: 1, column: 9)",
        ),
        (
            "Float[1.5e+3]",
            "Not a valid decimal number 1.5e (line: 1, column: 7)",
        ),
        (
            "Float[1e5x]",
            "Not a valid decimal number 1e5x (line: 1, column: 7)",
        ),
        (
            "Float[12x4e5]",
            "Illegal number '12x4e5' (line: 1, column: 7)",
        ),
        ("Foo::bar", "Illegal class reference (line: 1, column: 5)"),
        (
            "foo",
            "The expression <foo> is not a valid type specification.",
        ),
        (
            "Array[Optional[1]]",
            "The expression <Optional[1]> is not a valid type specification.",
        ),
        (
            "Hash[String]",
            "Invalid number of type parameters specified: Hash requires 2 to 4, 1 provided",
        ),
        ("Data[1]", "Not a parameterized type <Data>"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn deeply_nested_types_are_refused() {
    let nested = |depth: usize| "Array[".repeat(depth) + "Any" + &"]".repeat(depth);
    assert!(Type::parse(&nested(60)).is_ok());
    for text in [
        nested(100_000),
        "[".repeat(100_000),
        "-".repeat(100_000),
        "Any[1]".to_owned() + &"[1]".repeat(100_000),
    ] {
        assert!(error(&text).contains("nested more than 64 levels deep"));
    }
}

#[test]
fn deep_values_are_described_without_stack_overflow() {
    let mut value = Value::Sensitive(Value::Int(1).into());
    for _ in 0..1000 {
        value = Value::array(vec![value]);
    }
    for text in [
        "Data",
        "Array[Data]",
        "Hash[String, Data]",
        "Iterable[Integer]",
    ] {
        assert!(assert_instance("Found value", &Type::parse(text).unwrap(), &value).is_err());
    }
}

#[test]
fn recursive_aliases_can_be_compared() {
    let ty = |text: &str| Type::parse(text).unwrap();
    for (wide, narrow, expected) in [
        ("RichData", "Data", true),
        ("Data", "RichData", false),
        ("Data", "Data", true),
        ("RichData", "RichData", true),
        ("Array[Data]", "Array[Array[Data]]", true),
        ("Puppet::LookupValue", "RichData", true),
        ("Data", "Hash[String, Array[Data]]", true),
        ("Data", "Hash[Integer, Data]", false),
    ] {
        assert_eq!(ty(wide).accepts(&ty(narrow)), expected, "{wide} {narrow}");
    }
}

#[test]
fn the_type_of_many_strings_is_inferred_in_time() {
    let items = (0..200_000)
        .map(|number| Value::str(format!("text {number}")))
        .collect();
    let value = Value::array(items);
    let ty = infer(&value).generalize();
    assert_eq!(ty.to_string(), "Array[String[6, 11]]");
}

#[test]
fn many_mismatches_are_described_in_time() {
    let strings = Value::array(
        (0..200_000)
            .map(|number| Value::str(format!("{number}")))
            .collect(),
    );
    let odd = (0..100_000).map(|number| (Value::Int(2 * number), Value::Int(number)));
    let odd = Value::hash(odd.collect());
    for (text, value) in [
        ("Array[Integer]", &strings),
        ("Tuple[Integer, 0, default]", &strings),
        ("Hash[String, Integer]", &odd),
        ("Variant[Struct[{a => Integer}], Array[String]]", &odd),
    ] {
        let mismatch = assert_instance("Found value", &Type::parse(text).unwrap(), value);
        assert!(
            mismatch
                .unwrap_err()
                .to_string()
                .contains("Found value has wrong type,"),
            "{text}"
        );
    }
}
