//! `hiera.yaml`: whatever stands in it, the layer is usable, ignored, or faulty with positions inside of the text.

use crate::api::{Layer, LayerKind, Limits, read};
use crate::expect::yaml_position_in;

/// Texts with a meaning in configurations.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "\n  ",
    "\n    ",
    "\n  - ",
    "- ",
    ": ",
    "version: 5\n",
    "version: 4\n",
    "version: 3\n",
    ":hierarchy:",
    "hierarchy:\n",
    "defaults:\n",
    "default_hierarchy:\n",
    "  - name: x\n",
    "    path: a.yaml\n",
    "    paths: [a, b]\n",
    "    glob: \"*.yaml\"\n",
    "    globs: []\n",
    "    uri: http://x\n",
    "    mapped_paths: [facts.a, x, \"%{x}\"]\n",
    "    datadir: data\n",
    "    data_hash: yaml_data\n",
    "    data_hash: json_data\n",
    "    data_hash: hocon_data\n",
    "    lookup_key: eyaml_lookup_key\n",
    "    lookup_key: hiera_http\n",
    "    data_dig: x\n",
    "    hiera3_backend: x\n",
    "    options: {a: 1}\n",
    ":backends: yaml\n",
    ":yaml:\n  :datadir: x\n",
    ":merge_behavior: deeper\n",
    ":logger: console\n",
    "backend: yaml\n",
    "%{facts.a}",
    "%{::a}",
    "%{lookup('a')}",
    "..",
    "/",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "~",
    "1",
    "&a ",
    "*a",
    "<<: *a\n",
    "# c\n",
    "pkcs7_private_key: x",
    "ü",
];

/// Checks one text, as the configuration of each kind of layer.
pub fn check(text: &[u8]) {
    // Not YAML, or beyond the limits of it.
    let is_yaml = read(text, &Limits::default(), &mut psych_yaml::Builder).is_ok();
    for kind in [
        LayerKind::Global,
        LayerKind::Environment,
        LayerKind::Module("m".into()),
    ] {
        check_layer(
            text,
            &Layer::parse(kind, "/code/hiera.yaml", "/code", text),
            is_yaml,
        );
    }
}

fn check_layer(text: &[u8], layer: &Layer, is_yaml: bool) {
    match layer {
        Layer::Absent => {}
        Layer::Ignored(fault) => yaml_position_in(text, fault.line, fault.column),
        Layer::Faulty(faults) => {
            assert!(faults.iter().next().is_some());
            for fault in faults.iter() {
                yaml_position_in(text, fault.line, fault.column);
                assert!(!fault.problem.is_empty());
            }
        }
        Layer::Configured(config) => {
            assert!(is_yaml);
            assert!((3..=5).contains(&config.version()));
            for level in config.all_levels() {
                yaml_position_in(text, level.line().max(1), 1);
                for reach in level.reaches("production") {
                    assert!(!format!("{reach:?}").is_empty());
                }
            }
        }
    }
}
