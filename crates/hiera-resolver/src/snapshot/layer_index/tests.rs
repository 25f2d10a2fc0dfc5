use puppet_values::Hash;

use super::*;
use crate::hierarchy::Layer;
use crate::scope::Node;
use crate::snapshot::{Parts, Snapshot};

/// How many files the index finds with these facts; `None` if it leaves the path to the plan.
fn found(path: &str, file: &str, facts: &[(&str, &str)]) -> Option<usize> {
    let hiera = format!("version: 5\nhierarchy: [{{name: l, path: \"{path}\"}}]");
    let layer = Layer::parse(
        LayerKind::Environment,
        "/e/hiera.yaml",
        "/",
        hiera.as_bytes(),
    );
    let file = DataFile::decode(file, Format::YAML, b"{}", &mut Default::default());
    let snapshot = Snapshot::build(Parts {
        environment: layer,
        files: vec![(Format::YAML, Arc::new(file))],
        ..Parts::default()
    });
    let facts = facts.iter();
    let facts: Hash = facts
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    let scope = Node::new("e").facts(facts);
    let index = snapshot.layer_index(&LayerKind::Environment)?;
    let config = snapshot.environment().config().unwrap();
    let visible_files = index.visible_files(config, &snapshot, &scope)?;
    Some(visible_files.contents.unwrap().existing.len())
}

#[test]
fn files_are_found_by_the_names_in_their_paths() {
    assert_eq!(found("common.yaml", "/e/data/common.yaml", &[]), Some(1));
    assert_eq!(found("other.yaml", "/e/data/common.yaml", &[]), Some(0));
    let one = |file, name| found("n/%{a}.yaml", file, &[("a", name)]);
    assert_eq!(one("/e/data/n/x.y.yaml", "x.y"), Some(1));
    assert_eq!(one("/e/data/n/x.y.yaml", "x"), Some(0));
    assert_eq!(one("/e/data/m/x.yaml", "x"), Some(0));
    let two = |a, b| found("%{a}/%{b}.yaml", "/e/data/p/q.yaml", &[("a", a), ("b", b)]);
    assert_eq!(two("p", "q"), Some(1));
    assert_eq!(two("q", "p"), Some(0));
    assert_eq!(
        found("a-%{a}-b/%{a}", "/e/data/a-x-b/x", &[("a", "x")]),
        Some(1)
    );
}

#[test]
fn unusual_paths_and_names_are_left_to_the_plan() {
    let facts = [("a", "p"), ("b", "q")];
    for path in [
        "../n/%{a}.yaml",
        "n//%{a}.yaml",
        "/n/%{a}.yaml",
        "n/./%{a}.yaml",
        "%{lookup('a')}",
    ] {
        assert_eq!(found(path, "/e/data/p-q.yaml", &facts), None, "{path}");
    }
    let named = |path, name| found(path, "/e/data/n/.yaml", &[("a", name)]);
    for name in ["x/y", "../x", "x\0"] {
        assert_eq!(named("n/%{a}.yaml", name), None, "{name}");
    }
    for name in [".", "..", "..."] {
        assert_eq!(named("n/%{a}", name), None, "{name}");
    }
    assert_eq!(named("n/%{a}.yaml", ""), Some(1));
    assert_eq!(named("n/%{a}.yaml", ".."), Some(0));
    assert_eq!(named("n/%{a}", ".yaml"), Some(1));
    assert_eq!(named("n/%{a}/.yaml", ""), Some(1));
    assert_eq!(named("%{a}/n/.yaml", ""), Some(0));
}

#[test]
fn several_variables_in_a_component_are_one_name() {
    let two = |path, a, b| found(path, "/e/data/p-q-r.yaml", &[("a", a), ("b", b)]);
    assert_eq!(two("%{a}-%{b}.yaml", "p", "q-r"), Some(1));
    assert_eq!(two("%{a}-%{b}.yaml", "p-q", "r"), Some(1));
    assert_eq!(two("%{a}-%{b}.yaml", "p", "q"), Some(0));
    assert_eq!(two("%{a}%{b}.yaml", "p-q", "-r"), Some(1));
    assert_eq!(two("%{a}%{b}", "", ".."), None);
}
