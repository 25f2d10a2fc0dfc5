//! Globs and JSON documents, compared with recorded results of Ruby.

use std::collections::BTreeMap;

use hiera_resolver::Value;
use hiera_resolver::data::json;
use hiera_resolver::hierarchy::glob::{self, Directory, DirectoryEntry, EntryKind};
use serde_json::value::RawValue;

/// A case by the names of its fields, each as written in the file.
type Case = BTreeMap<String, Box<RawValue>>;

fn cases(text: &str) -> Vec<Case> {
    serde_json::from_str(text).unwrap()
}

fn text(case: &Case, field: &str) -> String {
    serde_json::from_str(case[field].get()).unwrap()
}

fn value(text: &str) -> Option<Value> {
    json::parse(text.as_bytes(), &mut |text| text.into()).ok()
}

/// The tree in which the globs were recorded.
struct RecordedTree;

impl Directory for RecordedTree {
    fn entries(&self, path: &str) -> Vec<DirectoryEntry> {
        use EntryKind::{Directory, File, LinkToDirectory};
        let relative = path.strip_prefix("/tree").unwrap_or("/missing");
        let (directories, links, files): (&[&str], &[&str], &[&str]) = match relative {
            "" => (
                &[".hid", "B", "a", "nodes", "os"],
                &["linkdir"],
                &[
                    ".hidden.yaml",
                    "Common.yaml",
                    "a.yaml",
                    "a[1].yaml",
                    "b.yaml",
                    "br{ace}.yaml",
                    "common.yaml",
                    "dangling.yaml",
                    "link.yaml",
                    "sp ace.yaml",
                    "st*r.yaml",
                    "x.json",
                    "y.yml",
                    "é.yaml",
                ],
            ),
            "/.hid" => (&[], &[], &["5.yaml"]),
            "/B" => (&[], &[], &["z.yaml"]),
            "/a" | "/linkdir" | "/a/b/loop" | "/linkdir/b/loop" => {
                (&["b"], &[], &["1.yaml", "10.yaml", "2.yaml"])
            }
            "/a/b" | "/linkdir/b" => (&["c"], &["loop"], &["3.yaml"]),
            "/a/b/c" | "/linkdir/b/c" => (&[], &[], &["4.yaml"]),
            "/nodes" => (&[], &[], &["web01.example.com.yaml", "web02.yaml"]),
            "/os" => (&["Debian", "RedHat"], &[], &[]),
            "/os/Debian" => (&[], &[], &["11.yaml", "12.yaml"]),
            "/os/RedHat" => (&[], &[], &["9.yaml"]),
            _ => (&[], &[], &[]),
        };
        let of_kind = |names: &[&str], kind| -> Vec<DirectoryEntry> {
            let entry = |name: &&str| DirectoryEntry {
                name: (*name).into(),
                kind,
            };
            names.iter().map(entry).collect()
        };
        let mut entries = of_kind(directories, Directory);
        entries.extend(of_kind(links, LinkToDirectory));
        entries.extend(of_kind(files, File));
        entries
    }
}

#[test]
fn globs_match_like_ruby_in_the_same_order() {
    let cases = cases(include_str!("../cases/glob_cases.json"));
    assert_eq!(cases.len(), 70);
    for case in &cases {
        let pattern = text(case, "p");
        let expected: Vec<String> = serde_json::from_str(case["nd"].get()).unwrap();
        let found = glob::expand(&format!("/tree/{pattern}"), &RecordedTree).unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(|path| path.strip_prefix("/tree/").unwrap())
            // The cases were recorded with relative patterns, where Ruby leaves out a leading `./`.
            .map(|path| match pattern.starts_with("./") {
                true => path.strip_prefix("./").unwrap(),
                false => path,
            })
            .collect();
        assert_eq!(found, expected, "{pattern}");
    }
}

#[test]
fn json_is_parsed_like_ruby() {
    let cases = cases(include_str!("../cases/json_cases.json"));
    assert_eq!(cases.len(), 43);
    for case in &cases {
        let written = text(case, "j");
        let expected = match case.get("r").map(|recorded| recorded.get()) {
            // JSON has no way to write the result of this one.
            Some(r#""Infinity""#) => Some(Value::Float(f64::INFINITY)),
            Some(recorded) => value(recorded),
            None => None,
        };
        assert_eq!(value(&written), expected, "{written}");
    }
}
