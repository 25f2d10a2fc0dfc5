//! What the recorded cases do not cover: limits, secrets, and values that Puppet prints with an address.

use puppet_values::Hash;

use super::*;

fn ty(text: &str) -> Type {
    Type::parse(text).unwrap()
}

fn check(target: &str, value: Value, arguments: &[Value], expected: &str) {
    let shown = match new_instance(&ty(target), value, arguments) {
        Ok(value) => stringify(&value),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(shown, expected, "{target}");
}

#[test]
fn results_of_conversions_are_limited() {
    let too_large = "error: the result would be larger than 1000000 elements or characters";
    check("Array", Value::Int(i64::MAX), &[], too_large);
    let huge = Value::integer(num_bigint::BigInt::from(10).pow(30));
    check("Array", huge.clone(), &[], too_large);
    check("Hash", huge, &[], too_large);
    check("String", Value::Int(1), &["%999999999d".into()], too_large);
    check(
        "String",
        Value::Float(1.5),
        &["%.99999999999999999999f".into()],
        too_large,
    );
    let range = Value::from(ty("Integer[0, 99999999999]"));
    check("Array", range, &[], too_large);
    let path = Value::array(vec!["a".into(), Value::Int(99_999_999)]);
    let entries = vec![
        Value::array(vec![Value::array(vec!["a".into()]), Value::array(vec![])]),
        Value::array(vec![path, Value::Null]),
    ];
    check("Hash", Value::array(entries), &["tree".into()], too_large);
}

#[test]
fn long_paths_into_a_tree_are_refused() {
    let path = Value::array(vec!["a".into(); 100_000]);
    let entries = Value::array(vec![Value::array(vec![path, Value::Null])]);
    let made = new_instance(&ty("Hash"), entries, &["hash_tree".into()]);
    assert_eq!(made, Err(ConversionError::TooLarge { limit: 500 }));
}

#[test]
fn wide_time_fields_are_refused_in_time() {
    let format = "%99999999H".into();
    check(
        "Timespan",
        "5".into(),
        &[format],
        "error: Unable to parse '5' using format '%99999999H'",
    );
    let digits = Value::str("9".repeat(60));
    let made = new_instance(&ty("Timespan"), digits.clone(), &["%S".into()]);
    assert!(made.is_err());
    assert!(new_instance(&ty("Timestamp"), digits, &["%Y".into()]).is_err());
}

#[test]
fn the_content_of_a_sensitive_value_is_never_shown() {
    let secret = Value::Sensitive(Arc::new("hunter2".into()));
    assert_eq!(stringify(&secret), "Sensitive [value redacted]");
    let inside: Hash = [("a".into(), secret.clone())].into_iter().collect();
    let inside = Value::hash(inside);
    assert_eq!(stringify(&inside), "{'a' => #<Sensitive [value redacted]>}");
    for target in [
        "Integer",
        "Hash",
        "Array[Integer]",
        "Struct[{a => Integer}]",
        "Enum[x]",
        "Timespan",
    ] {
        for value in [&secret, &inside] {
            if let Err(error) = new_instance(&ty(target), value.clone(), &[]) {
                assert!(!error.to_string().contains("hunter2"), "{error}");
            }
        }
    }
}

#[test]
fn times_in_collections_print_as_they_do_alone() {
    let time = new_instance(&ty("Timespan"), Value::Int(90), &[]).unwrap();
    assert_eq!(program_text(&[time]), "[0-00:01:30.0]");
}

#[test]
fn a_value_that_is_not_a_type_is_refused() {
    let error = new_instance_of(&Value::Int(5), Value::Int(5), &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "'new' parameter 'type' expects a Type value, got Integer"
    );
}

#[test]
fn deep_values_are_converted_or_refused() {
    let mut value = Value::Int(1);
    for _ in 0..1000 {
        value = Value::array(vec![value]);
    }
    for target in [
        "String",
        "Array",
        "Hash",
        "Integer",
        "Sensitive",
        "Init[String]",
        "Timespan",
        "Tuple[Data]",
    ] {
        // It must return, with either result.
        drop(new_instance(&ty(target), value.clone(), &[]));
    }
    assert_eq!(program_text(&[value]), "");
}
