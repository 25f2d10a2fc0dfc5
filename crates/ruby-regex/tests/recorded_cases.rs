//! Results recorded from Ruby 3.1.

use ruby_regex::RubyRegex;
use serde_json::Value;

#[test]
fn patterns_match_like_ruby() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases/regex_cases.json")).unwrap();
    assert_eq!(cases.len(), 163);
    let mut wrong = Vec::new();
    for case in &cases {
        let (pattern, subject) = (case["p"].as_str().unwrap(), case["t"].as_str().unwrap());
        let found = match RubyRegex::new(pattern) {
            Ok(regex) => Value::Bool(regex.is_match(subject).unwrap()),
            Err(_) => Value::from("ERR"),
        };
        if case["r"] != found {
            wrong.push((pattern, subject, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
