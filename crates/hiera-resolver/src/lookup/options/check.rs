//! Mistakes in the `lookup_options` of a file, found when it is loaded rather than by the lookups that fail on it.
//!
//! What Puppet ignores is a notice and not a fault. Where there are tokens, only what is around them can be checked.

use lean_string::LeanStr;

use super::{Conversion, KeyOptions};
use crate::merge::MergeStrategy;
use puppet_values::{Value, ruby_text};
use ruby_regex::RubyRegex;

/// A mistake in `lookup_options`.
#[derive(Debug)]
pub(super) struct Finding {
    /// The key or pattern as it is written; `None` if the whole is meant.
    pub(super) entry: Option<LeanStr>,
    /// `merge` or `convert_to`, if the mistake is in its value.
    pub(super) member: Option<&'static str>,
    /// What is wrong.
    pub(super) problem: String,
    /// Lookups fail on it.
    pub(super) is_fault: bool,
    /// Lookups of every key fail on it, not only of those that the entry is for.
    pub(super) concerns_all: bool,
}

/// The members that an entry may have.
pub(super) const KNOWN: [&str; 2] = ["merge", "convert_to"];

/// Checks what a file has under `lookup_options`.
pub(super) fn check(options: &Value) -> Vec<Finding> {
    let whole = |problem: String, is_fault| Finding {
        entry: None,
        member: None,
        problem,
        is_fault,
        concerns_all: true,
    };
    let hash = match options {
        Value::Hash(hash) => hash,
        Value::Template(_) => return Vec::new(),
        Value::Null => {
            let problem =
                "lookup_options is null: lookups fail where other files of a node have some";
            return vec![whole(problem.to_owned(), false)];
        }
        other => {
            let found = other.ruby_class();
            let problem = format!("lookup_options must be a hash, not {found}");
            return vec![whole(problem, true)];
        }
    };
    let mut findings = Vec::new();
    if hash.traits().is_irregular {
        let problem =
            "lookup_options hold a Symbol, or a hash key that is neither string nor number";
        findings.push(whole(problem.to_owned(), true));
    }
    for (key, value) in hash.iter() {
        check_entry(key, value, &mut findings);
    }
    findings
}

/// The text of a key as it is written.
pub(super) fn written(key: &Value) -> LeanStr {
    match key {
        Value::Str(text) => text.clone(),
        Value::Template(template) => LeanStr::from(template.source().as_str()),
        other => {
            let mut text = String::new();
            ruby_text::to_s(other, &mut text);
            LeanStr::from(text)
        }
    }
}

fn check_entry(key: &Value, value: &Value, findings: &mut Vec<Finding>) {
    let name = written(key);
    let finding = |member, problem: String, is_fault| Finding {
        entry: Some(name.clone()),
        member,
        problem: format!("lookup_options of `{name}`: {problem}"),
        is_fault,
        concerns_all: false,
    };
    match key {
        Value::Template(_) => {}
        Value::Str(text) => {
            if let (true, Err(error)) = (text.starts_with('^'), RubyRegex::new(text)) {
                findings.push(Finding {
                    concerns_all: true,
                    ..finding(None, format!("not a regular expression: {error}"), true)
                });
            }
        }
        // Refused with the whole.
        other if other.traits().is_irregular => {}
        other => {
            let problem = format!("keys must be strings, not {}", other.ruby_class());
            findings.push(Finding {
                concerns_all: true,
                ..finding(None, problem, true)
            });
        }
    }
    let members = match value {
        Value::Hash(members) => members,
        Value::Null | Value::Template(_) => return,
        other => {
            let entry = KeyOptions::parse(&name, other);
            findings.push(match entry.merge() {
                Err(_) => finding(
                    None,
                    format!("must be a hash, not {}", other.ruby_class()),
                    true,
                ),
                Ok(_) => finding(
                    None,
                    format!("{} is ignored; write a hash", other.ruby_class()),
                    false,
                ),
            });
            return;
        }
    };
    for (member, value) in members.iter() {
        let known = KNOWN
            .into_iter()
            .find(|known| member.as_str() == Some(known));
        let problem = match known {
            None if matches!(member, Value::Template(_)) => continue,
            None => {
                let problem = format!(
                    "`{}` is ignored; there are {}",
                    written(member),
                    KNOWN.join(" and ")
                );
                findings.push(finding(None, problem, false));
                continue;
            }
            // Its value depends on tokens.
            Some(_) if value.traits().has_templates => None,
            Some("merge") => MergeStrategy::parse(value)
                .err()
                .map(|error| error.to_string()),
            Some(_) => Conversion::parse(value).and_then(|conversion| conversion.problem()),
        };
        if let Some(problem) = problem {
            findings.push(finding(known, problem, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{DataFile, Format, Texts};

    fn found(format: Format, text: &str) -> Vec<String> {
        let file = DataFile::decode("/x", format, text.as_bytes(), &mut Texts::default());
        let contents = file.contents().unwrap();
        let shown = |kind: &'static str| {
            move |notice: &crate::data::Notice| {
                format!("{kind} {}:{} {}", notice.line, notice.column, notice.text)
            }
        };
        let faults = contents.option_faults().iter().map(shown("fault"));
        let notices = contents.notices().iter().map(shown("notice"));
        faults.chain(notices).collect()
    }

    #[track_caller]
    fn check(yaml: &str, expected: &[&str]) {
        assert_eq!(found(Format::YAML, yaml), expected, "{yaml}");
    }

    #[test]
    fn a_mistake_that_lookups_fail_on_is_a_fault_with_its_position() {
        check(
            "k: 1\nlookup_options:\n  a: {merge: first}\n  '^b(': {merge: first}\n",
            &[
                "fault 4:3 lookup_options of `^b(`: not a regular expression: end pattern with unmatched parenthesis: /^b(/",
            ],
        );
        check(
            "lookup_options:\n  a:\n    merge: deeep\n  b:\n    merge:\n      strategy: deep\n      knock: x\n",
            &[
                "fault 3:12 lookup_options of `a`: unknown merge strategy `deeep`; there are first, unique, hash and deep",
                "fault 6:7 lookup_options of `b`: the merge options have wrong type: unrecognized key 'knock'",
            ],
        );
        check(
            "lookup_options:\n  a:\n    convert_to: Array[\n  b: {convert_to: 1}\n  c: {convert_to: [Nope, 1]}\n",
            &[
                "fault 3:17 lookup_options of `a`: `Array[` is not a type: Syntax error at end of input",
                "fault 4:19 lookup_options of `b`: `convert_to` must name a type, not Integer",
                "fault 5:19 lookup_options of `c`: there is no type `Nope` here",
            ],
        );
        check(
            "lookup_options: [a]\n",
            &["fault 1:17 lookup_options must be a hash, not Array"],
        );
        check(
            "lookup_options: text\n",
            &["fault 1:17 lookup_options must be a hash, not String"],
        );
        check(
            "lookup_options:\n  1: {merge: first}\n",
            &["fault 2:3 lookup_options of `1`: keys must be strings, not Integer"],
        );
        check(
            "lookup_options:\n  a: [merge]\n  b: 1\n  c: merge\n",
            &[
                "fault 2:6 lookup_options of `a`: must be a hash, not Array",
                "fault 3:6 lookup_options of `b`: must be a hash, not Integer",
                "fault 4:6 lookup_options of `c`: must be a hash, not String",
            ],
        );
    }

    #[test]
    fn what_puppet_ignores_is_a_notice() {
        check(
            "lookup_options:\n  a: deep\n  b: {megre: deep}\n  c: ~\n  d: {merge: ~, convert_to: ~}\n  e: {merge: false}\n",
            &[
                "notice 2:6 lookup_options of `a`: String is ignored; write a hash",
                "notice 3:6 lookup_options of `b`: `megre` is ignored; there are merge and convert_to",
            ],
        );
        check(
            "lookup_options:\n",
            &[
                "notice 1:16 lookup_options is null: lookups fail where other files of a node have some",
            ],
        );
        check("k: 1\n", &[]);
    }

    #[test]
    fn what_is_written_beside_tokens_is_checked() {
        check(
            "lookup_options:\n  '^%{x}(': {merge: nope}\n  b: {merge: '%{m}', convert_to: '['}\n  c: {merge: {strategy: '%{x}', nope: 1}}\n",
            &[
                "fault 2:21 lookup_options of `^%{x}(`: unknown merge strategy `nope`; there are first, unique, hash and deep",
                "fault 3:34 lookup_options of `b`: `[` is not a type: Syntax error at end of input",
            ],
        );
    }

    #[test]
    fn json_and_hocon_have_positions_too() {
        let json = "{\n  \"merge\": 1,\n  \"lookup_options\": {\n    \"ok\": {\"merge\": \"deep\"},\n    \"^a\\\\(\": {},\n    \"^a(\": {\"merge\": \"nope\"}\n  }\n}\n";
        assert_eq!(
            found(Format::JSON, json),
            [
                "fault 6:5 lookup_options of `^a(`: not a regular expression: end pattern with unmatched parenthesis: /^a(/",
                "fault 6:13 lookup_options of `^a(`: unknown merge strategy `nope`; there are first, unique, hash and deep",
            ]
        );
        let hocon = "a = 1\nlookup_options {\n  ba { merge = deep }\n  a { merge = nope }\n}\n";
        assert_eq!(
            found(Format::HOCON, hocon),
            [
                "fault 4:7 lookup_options of `a`: unknown merge strategy `nope`; there are first, unique, hash and deep"
            ]
        );
    }

    #[test]
    fn an_entry_that_comes_by_a_merge_key_has_the_position_where_it_is_written() {
        check(
            "base: &base\n  a: {merge: nope}\nlookup_options:\n  <<: *base\n",
            &[
                "fault 2:14 lookup_options of `a`: unknown merge strategy `nope`; there are first, unique, hash and deep",
            ],
        );
    }
}
