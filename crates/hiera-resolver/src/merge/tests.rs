//! Tables of merges; Puppet's answers to these are among the conformance cases.

use puppet_values::Value;

use super::*;
use crate::data::json;

/// Has no secrets and no explanation.
struct Nobody;

impl MergeObserver for Nobody {
    type Error = MergeError;

    fn merged(&mut self, _sources: &[&Value], _merged: &Value) {}

    fn failed(&mut self, _sources: &[&Value], error: MergeError) -> MergeError {
        error
    }

    fn wants_changes(&self) -> bool {
        false
    }

    fn changed(&mut self, _sources: &[&Value], _old: &Value, _new: &Value) {}
}

fn merge(
    strategy: &MergeStrategy,
    mut sources: impl ExactSizeIterator<Item = Contribution>,
) -> Result<Option<Contribution>, MergeError> {
    let Some(mut merger) = Merger::new(strategy, sources.len()) else {
        return Ok(sources.next().map(|found| strategy.single(found)));
    };
    for source in sources {
        merger.push(source, &mut Nobody)?;
    }
    merger.finish(&mut Nobody)
}

fn value(text: &str) -> Value {
    json::parse(text.as_bytes(), &mut |text| Value::str(text)).unwrap()
}

fn check(strategy: &str, levels: &[&str], expected: &str) {
    let strategy = MergeStrategy::parse(&value(strategy)).unwrap();
    let levels: Vec<Value> = levels.iter().map(|level| value(level)).collect();
    let merged = merge(&strategy, levels.iter().cloned().map(Contribution::from));
    let shown = match merged {
        Ok(value) => {
            let mut out = String::new();
            puppet_values::ruby_text::inspect(value.unwrap().value(), &mut out);
            out.replace("=>", ":")
                .replace(", ", ",")
                .replace("nil", "null")
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{strategy:?} {levels:?}");
}

#[test]
fn hash_merge_puts_keys_of_the_lower_level_first() {
    check(
        "\"hash\"",
        &[r#"{"d":1,"b":2}"#, r#"{"a":3,"b":4,"c":5}"#],
        r#"{"a":3,"b":2,"c":5,"d":1}"#,
    );
}

#[test]
fn unique_merge_puts_the_higher_level_first_and_flattens() {
    check("\"unique\"", &["1", "[2,[3,1]]"], "[1,2,3]");
}

#[test]
fn deep_merge_joins_lists_the_lower_level_first() {
    check(
        "\"deep\"",
        &[r#"{"l":[1,2]}"#, r#"{"l":[2,3]}"#],
        r#"{"l":[2,3,1]}"#,
    );
    check(
        "\"deep\"",
        &[r#"{"n":null,"f":false}"#, r#"{"n":1,"f":1}"#],
        r#"{"n":1,"f":false}"#,
    );
    check("\"deep\"", &["{}", "1"], "1");
    check(
        "\"deep\"",
        &[r#"{"a":{"l":[1,1]}}"#, r#"{"b":1}"#],
        r#"{"b":1,"a":{"l":[1]}}"#,
    );
    check(
        "\"deep\"",
        &[r#"{"a":[1,1],"b":[1,1]}"#, "5"],
        r#"{"a":[1,1],"b":[1]}"#,
    );
}

#[test]
fn hashes_in_lists_are_merged_by_position_where_asked() {
    let strategy = r#"{"strategy":"deep","merge_hash_arrays":true}"#;
    check(
        strategy,
        &[r#"[{"a":1},{"b":1}]"#, r#"[{"c":2},{"d":2}]"#],
        r#"[{"c":2,"a":1},{"d":2,"b":1}]"#,
    );
}

#[test]
fn a_knock_out_reaches_every_lower_level_and_a_higher_one_may_add_again() {
    let strategy = r#"{"strategy":"deep","knockout_prefix":"--"}"#;
    check(
        strategy,
        &[r#"["--a"]"#, r#"["b"]"#, r#"["a","c"]"#],
        r#"["c","b"]"#,
    );
    check(
        strategy,
        &[r#"["a"]"#, r#"["--a"]"#, r#"["a","c"]"#],
        r#"["c","a"]"#,
    );
    check(
        strategy,
        &[r#"{"x":"--"}"#, r#"{"x":[1]}"#, r#"{"x":[2]}"#],
        r#"{"x":""}"#,
    );
    check(
        strategy,
        &[r#"["--","n"]"#, r#"["b"]"#, r#"["a"]"#],
        r#"["n"]"#,
    );
}

#[test]
fn options_are_checked() {
    for (strategy, expected) in [
        (
            "\"bogus\"",
            "unknown merge strategy `bogus`; there are first, unique, hash and deep",
        ),
        (
            r#"{"x":1}"#,
            "the hash given as `merge` must name a strategy under the key `strategy`",
        ),
        (
            r#"{"strategy":"hash","x":1}"#,
            "the merge options have wrong type: unrecognized key 'x'",
        ),
        (
            r#"{"strategy":"deep","merge_hash_arrays":1}"#,
            "the merge options have wrong type: entry 'merge_hash_arrays' expects a value of type Undef or Boolean, got Integer",
        ),
    ] {
        assert_eq!(
            MergeStrategy::parse(&value(strategy))
                .unwrap_err()
                .to_string(),
            expected
        );
    }
}

#[test]
fn the_first_value_found_answers() {
    check("\"first\"", &["1", "[2]"], "1");
    check("\"default\"", &["null", "2"], "null");
}

#[test]
fn a_value_alone_may_be_of_any_type() {
    check("\"hash\"", &["1"], "1");
    check("\"deep\"", &["[1,1]"], "[1,1]");
    check("\"unique\"", &["[[1],[1]]"], "[[1]]");
}

#[test]
fn values_that_meet_are_checked() {
    check(
        "\"hash\"",
        &["1", "{}"],
        "The first element of the merge has wrong type, expects a Hash value, got Integer",
    );
    check(
        "\"unique\"",
        &["1", "{}"],
        "The second element of the merge has wrong type, expects a value of type Scalar or Array, got Hash",
    );
}

#[test]
fn knock_outs_reach_the_files_of_merged_levels() {
    let strategy = r#"{"strategy":"deep","knockout_prefix":"--"}"#;
    let strategy = MergeStrategy::parse(&value(strategy)).unwrap();
    let files = [r#"["--a","x"]"#, r#"["b"]"#].map(|file| value(file).into());
    let level = merge(&strategy, files.into_iter()).unwrap().unwrap();
    let levels = [level, value(r#"["a","c"]"#).into()];
    let merged = merge(&strategy, levels.into_iter()).unwrap().unwrap();
    assert_eq!(merged.into_value(), value(r#"["c","b","x"]"#));
}
