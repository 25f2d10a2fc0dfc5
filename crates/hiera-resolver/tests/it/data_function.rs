//! A data function that is not part of the crate: a static that says how its files are decoded, and an entry in a table.
//! Nothing else refers to it by name, and it works like the built-in functions.

use hiera_resolver::data::{Contents, FileFault, RawFile, Texts};
use hiera_resolver::data_functions::{
    BUILT_IN, DataFunction, FileSource, FunctionKind, Functions, LegacyBackend, Source, YAML_DATA,
    refuse_options,
};
use hiera_resolver::{Environment, Hash, Node, Outcome, Value};

/// Files with `key = value` in each line.
static LINES_DATA: DataFunction = DataFunction {
    name: "lines_data",
    kinds: &[FunctionKind::DataHash],
    backend: Some(LegacyBackend {
        name: "lines",
        extension: ".txt",
        in_version_4: true,
    }),
    check_options: refuse_options,
    source: Source::Files(FileSource {
        format: "Lines",
        key_options: &[],
        decode,
    }),
};

fn decode(file: &RawFile<'_>, texts: &mut Texts) -> Result<Contents, FileFault> {
    let text = String::from_utf8_lossy(file.bytes);
    let entries = text.lines().enumerate().map(|(index, line)| {
        let (key, value) = line.split_once(" = ").ok_or_else(|| {
            FileFault::unparsable(file.path, (index + 1, 1), &"expected `key = value`", None)
        })?;
        Ok((Value::str(key), texts.value(value)))
    });
    let hash: Hash = entries.collect::<Result<_, _>>()?;
    Contents::of_root(file, Value::hash(hash))
}

static FUNCTIONS: [&DataFunction; 2] = [&YAML_DATA, &LINES_DATA];

/// The value of a key, or the error, with these lines in `ops.txt`.
fn lookup(functions: Functions, hiera_yaml: &str, lines: &str, key: &str) -> String {
    let environment = Environment::builder()
        .functions(functions)
        .hiera_yaml(hiera_yaml)
        .file("data/ops.txt", lines)
        .file("data/common.yaml", "ntp: pool\nport: '8'")
        .build();
    let node = Node::new("production").facts([("group", "ops".into())]);
    match environment.lookup(key, &node) {
        Ok(Outcome::Found(Value::Str(text))) => text.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

const VERSION_5: &str = "version: 5
hierarchy:
  - {name: group, path: \"%{facts.group}.txt\", data_hash: lines_data}
  - {name: common, path: common.yaml}
";

#[test]
fn a_function_added_to_the_table_answers_lookups() {
    let lines = "motd = hello %{facts.group}\nport = 80";
    for (key, expected) in [("motd", "hello ops"), ("port", "80"), ("ntp", "pool")] {
        assert_eq!(lookup(&FUNCTIONS, VERSION_5, lines, key), expected);
    }
    let version_4 = "{version: 4, hierarchy: [{name: ops, backend: lines}]}";
    assert_eq!(lookup(&FUNCTIONS, version_4, lines, "port"), "80");
}

#[test]
fn a_fault_in_its_files_or_options_fails_lookups() {
    let error = lookup(&FUNCTIONS, VERSION_5, "a = b\nno value", "a");
    assert!(
        error.contains("`/production/data/ops.txt`:2:1: expected `key = value`"),
        "{error}"
    );
    let with_options = VERSION_5.replace("lines_data", "lines_data, options: {a: 1}");
    let error = lookup(&FUNCTIONS, &with_options, "a = b", "a");
    assert!(error.contains("takes no `options`"), "{error}");
}

#[test]
fn a_function_that_is_not_in_the_table_is_unknown() {
    let error = lookup(&BUILT_IN, VERSION_5, "a = b", "a");
    assert!(
        error.contains("there is no data_hash function 'lines_data'"),
        "{error}"
    );
}
