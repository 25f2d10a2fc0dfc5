use std::cell::RefCell;
use std::collections::BTreeSet;

use puppet_values::{Hash, Value};

use super::*;
use crate::data::{DataFile, Format};
use crate::hierarchy::glob::{self, Directory, DirectoryEntry, EntryKind, GlobError};
use crate::hierarchy::plan::Plan;
use crate::hierarchy::{Layer, LayerKind};
use crate::scope::Node;
use crate::snapshot::Tree;
use crate::strictness::Strictness;

fn reach(location: &str, is_glob: bool) -> Reach {
    let known = KnownVariables {
        environment: "prod",
        local: None,
    };
    let [datadir, location] = ["/env/data", location].map(ConfigText::new);
    Reach::build(&datadir, &location, None, is_glob, &known)
}

#[track_caller]
fn check(location: &str, is_glob: bool, root: &str, within: &[&str], outside: &[&str]) {
    let reach = reach(location, is_glob);
    assert_eq!(reach.root(), root, "{location}");
    for path in within {
        assert!(reach.contains(path), "{location} reaches {path}");
    }
    for path in outside {
        assert!(!reach.contains(path), "{location} does not reach {path}");
    }
}

#[test]
fn a_variable_stands_for_any_text() {
    check(
        "nodes/%{trusted.certname}.yaml",
        false,
        "/env/data/nodes",
        &["/env/data/nodes/a.yaml", "/env/data/nodes/a/b.yaml"],
        &["/env/data/nodes/a.json", "/env/data/other/a.yaml"],
    );
    check(
        "os/%{a}/%{b}.yaml",
        false,
        "/env/data/os",
        &["/env/data/os/x/y.yaml", "/env/data/os/y.yaml"],
        &["/env/data/os/x/y.json"],
    );
    check(
        "os/%{a}/c.yaml",
        false,
        "/env/data/os",
        &["/env/data/os/c.yaml", "/env/data/os/x/c.yaml"],
        &["/env/data/os/xc.yaml"],
    );
    check(
        "%{a}/%{b}/%{c}/%{d}/%{e}/%{f}/c.yaml",
        false,
        "/env/data",
        &["/env/data/c.yaml", "/env/data/1/2/3/c.yaml"],
        &["/env/data/1c.yaml"],
    );
    check(
        "%{x}",
        false,
        "/env/data",
        &["/env/data/a", "/env/data"],
        &["/env/other"],
    );
}

#[test]
fn parents_are_resolved() {
    let within = ["/env/a.yaml"];
    check("../%{x}.yaml", false, "/env", &within, &["/a.yaml"]);
    check("%{x}/../a.yaml", false, "/env", &within, &["/a.yaml"]);
    check("x/../../%{x}.yaml", false, "/env", &within, &["/a.yaml"]);
    check("{..,x}/*.yaml", true, "/env", &within, &["/a.yaml"]);
}

#[test]
fn a_path_without_variables_reaches_only_itself() {
    check(
        "common.yaml",
        false,
        "/env/data",
        &["/env/data/common.yaml"],
        &["/env/data/common2.yaml"],
    );
    assert_eq!(
        reach("./x//y/../c.yaml", false).only_path(),
        Some("/env/data/x/c.yaml")
    );
}

#[test]
fn the_environment_is_known() {
    for name in [
        "environment",
        "::environment",
        "server_facts.environment",
        "::server_facts.environment",
    ] {
        let reach = reach(&format!("private/%{{{name}}}/common.yaml"), false);
        let expected = "/env/data/private/prod/common.yaml";
        assert_eq!(reach.only_path(), Some(expected), "{name}");
    }
    let known = KnownVariables {
        environment: "prod",
        local: Some("environment"),
    };
    let [datadir, location] = ["/env/data", "%{environment}.yaml"].map(ConfigText::new);
    let reach = Reach::build(&datadir, &location, None, false, &known);
    assert!(reach.contains("/env/data/element.yaml"));
}

#[test]
fn globs_are_searched_from_their_first_special_character() {
    let within = ["/env/data/g/a.yaml", "/env/data/g/b/c.yaml"];
    let outside = ["/env/data/g/a.json", "/env/data/h/a.yaml"];
    for glob in ["g/*.yaml", "g/**/*.yaml", "g/{a,b/c}.yaml", "g/[ab]*.yaml"] {
        check(glob, true, "/env/data/g", &within, &outside);
    }
    check(
        "g/{%{facts.list}}.yaml",
        true,
        "/env/data/g",
        &within,
        &outside,
    );
    check(
        "g/[%{facts.list}]*.yaml",
        true,
        "/env/data/g",
        &within,
        &outside,
    );
    check(
        r"g/\*.yaml",
        true,
        "/env/data/g",
        &["/env/data/g/*.yaml"],
        &within,
    );
}

#[test]
fn an_extension_may_be_written_in_full_or_in_part() {
    let reach = |location: &str| {
        let known = KnownVariables {
            environment: "prod",
            local: None,
        };
        let [datadir, location] = ["/d", location].map(ConfigText::new);
        Reach::build(&datadir, &location, Some(".yaml"), false, &known)
    };
    assert_eq!(reach("common").only_path(), Some("/d/common.yaml"));
    assert_eq!(reach("common.yaml").only_path(), Some("/d/common.yaml"));
    for location in ["%{x}", "%{x}.yaml", "%{x}yaml"] {
        assert!(reach(location).contains("/d/a.yaml"), "{location}");
        assert!(!reach(location).contains("/d/a.json"), "{location}");
    }
}

/// Some files, and the paths that were looked up.
struct RecordingTree {
    layer: Layer,
    absent: Layer,
    files: Vec<&'static str>,
    paths: RefCell<BTreeSet<String>>,
}

impl Tree for RecordingTree {
    fn global(&self) -> &Layer {
        &self.absent
    }

    fn environment(&self) -> &Layer {
        &self.layer
    }

    fn module(&self, _name: &str) -> Option<&Layer> {
        None
    }

    fn file(&self, path: &str, _format: Format) -> Option<&DataFile> {
        self.paths.borrow_mut().insert(path.to_owned());
        None
    }

    fn kind_of(&self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.rsplit_once('/')?;
        let entries = self.entries(parent);
        Some(entries.iter().find(|entry| entry.name == name)?.kind)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, GlobError> {
        glob::expand(pattern, self)
    }

    fn strictness(&self) -> Strictness {
        Strictness::Warning
    }
}

impl Directory for RecordingTree {
    fn entries(&self, path: &str) -> Vec<DirectoryEntry> {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        let below = self.files.iter();
        let below = below.filter_map(|file| file.strip_prefix(prefix.as_str()));
        let names: BTreeSet<(&str, bool)> = below
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            })
            .collect();
        let entry = |(name, is_directory): (&str, bool)| DirectoryEntry {
            name: name.into(),
            kind: match is_directory {
                true => EntryKind::Directory,
                false => EntryKind::File,
            },
        };
        names.into_iter().map(entry).collect()
    }
}

const FILES: [&str; 14] = [
    "/e/a.yaml",
    "/e/data/a.yaml",
    "/e/data/b.yaml",
    "/e/data/a/b.yaml",
    "/e/data/a/a/a.yaml",
    "/e/data/a/.b.yaml",
    "/e/data/b/a",
    "/e/data/*.yaml",
    "/e/data/{a,b}.yaml",
    "/e/data/[a].yaml",
    "/e/data/prod/a.yaml",
    "/e/other/a.yaml",
    "/e/other/a/b.yaml",
    "/x/a.yaml",
];

/// What locations are put together from at random.
const WRITTEN: [&str; 26] = [
    "a",
    "b",
    "a",
    ".yaml",
    ".yaml",
    "/",
    "/",
    "/",
    "..",
    "../",
    "./",
    "//",
    "%{x}",
    "%{y}",
    "%{x}",
    "%{environment}",
    "%{facts.nope}",
    "{%{x}}",
    "{a,%{y}}",
    "[%{x}]",
    "*",
    "?",
    "**/",
    "{a,..}",
    "[ab]",
    "\\",
];

const VALUES: [&str; 18] = [
    "", "a", "b", "a/b", "..", "../data", ".", "./a", "a/", "/a", "a//b", "a,b", "a,..", "*",
    "{a,b}", "[a]", "a.", "\\",
];

#[test]
fn every_path_that_a_lookup_can_name_is_within_reach() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut named, mut globbed) = (0, 0);
    for round in 0..30_000 {
        let mut text = |most: usize| -> String {
            let count = random.usize(1..=most);
            (0..count)
                .map(|_| WRITTEN[random.usize(..WRITTEN.len())])
                .collect()
        };
        let (datadir, location) = (text(3), text(6));
        let kind = ["path", "glob", "mapped_paths"][random.usize(..3)];
        let location = match kind {
            "mapped_paths" => serde_json::json!(["facts.list", "x", location]),
            _ => serde_json::json!(location),
        };
        let mut level = serde_json::json!({"name": "l", "data_hash": "yaml_data", kind: location});
        level["datadir"] =
            serde_json::json!(format!("data{}{datadir}", ["", "/"][random.usize(..2)]));
        let config = serde_json::json!({"version": 5, "hierarchy": [level]}).to_string();
        let layer = Layer::parse(
            LayerKind::Environment,
            "/e/hiera.yaml",
            "/",
            config.as_bytes(),
        );
        if layer.config().is_none() {
            continue;
        }
        let tree = RecordingTree {
            layer,
            absent: Layer::Absent,
            files: FILES.to_vec(),
            paths: RefCell::default(),
        };
        let mut value = || Value::str(VALUES[random.usize(..VALUES.len())]);
        let list = Value::array(vec![value(), value()]);
        let facts: Hash = [("x", value()), ("y", value()), ("list", list)]
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect();
        let shown = format!("round {round}: {config} with {facts:?}");
        let scope = Node::new("prod").facts(facts);
        let config = tree.layer.config().unwrap();
        for keeps_paths in [true, false] {
            // A lookup that fails names nothing.
            drop(Plan::make(config, &tree, &scope, keeps_paths));
        }
        let reaches = config.levels()[0].reaches("prod");
        for path in tree.paths.borrow().iter() {
            let is_reached = reaches.iter().any(|reach| {
                let is_below = path == reach.root()
                    || path.starts_with(&format!("{}/", reach.root().trim_end_matches('/')));
                reach.contains(path) && is_below
            });
            assert!(is_reached, "{path} is out of {reaches:?} in {shown}");
            named += 1;
            globbed += usize::from(kind == "glob");
        }
    }
    assert!(
        named > 5_000 && globbed > 100,
        "{named} paths, {globbed} by globs"
    );
}
