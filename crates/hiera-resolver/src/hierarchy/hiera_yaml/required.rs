//! The variables of a configuration that must be set if lookups fail on undefined ones.
//!
//! Puppet 8: accepts undefined variables in the locations of version 5, and nowhere else.

use arcstr::ArcStr;
use puppet_values::Value;

use super::refusal::without_comment;
use crate::hierarchy::hiera_config::RequiredVariable;
use crate::hierarchy::{HieraConfig, Locations};
use crate::template::{Part, Template, Token};

/// The variables, in the order in which Puppet interpolates them.
pub(super) fn variables(config: &HieraConfig, source: &[u8]) -> Vec<RequiredVariable> {
    let mut names = Vec::new();
    for level in config.all_levels() {
        // Puppet: does not interpolate the directories of version 4.
        if config.version != 4 {
            add_template(level.datadir().template(), &mut names);
        }
        if let (true, Locations::Paths(paths)) = (config.version < 5, level.locations()) {
            for path in paths {
                add_template(path.template(), &mut names);
            }
        }
        if let Some(options) = level.options() {
            add_value(options, &mut names);
        }
    }
    let source = String::from_utf8_lossy(source);
    let with_line = |name: ArcStr| RequiredVariable {
        line: line_of(&name, &source),
        name,
    };
    names.into_iter().map(with_line).collect()
}

fn add_value(value: &Value, names: &mut Vec<ArcStr>) {
    match value {
        Value::Template(template) => add_template(Some(&Template::of(template)), names),
        Value::Array(array) => {
            for item in array.items() {
                add_value(item, names);
            }
        }
        Value::Hash(hash) => {
            for (key, value) in hash.iter() {
                add_value(key, names);
                add_value(value, names);
            }
        }
        _ => {}
    }
}

fn add_template(template: Option<&Template>, names: &mut Vec<ArcStr>) {
    for part in template.map(Template::parts).unwrap_or_default() {
        if let Part::Token(Token::Variable(variable)) = part
            && let Ok((name, _)) = &variable.path
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
}

/// The first line with a token that is just this variable, as Puppet searches for it: without spaces, and outside of
/// comments.
fn line_of(name: &str, source: &str) -> Option<u32> {
    let unquoted = |text: &'_ str| text.strip_prefix(['\'', '"']).map_or(0, |_| 1);
    let is_token = |behind: &str| {
        let inside = behind.get(unquoted(behind)..).unwrap_or_default();
        let rest = inside.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.get(unquoted(rest)..)
                .unwrap_or_default()
                .starts_with('}')
        })
    };
    let holds = |line: &str| without_comment(line).split("%{").skip(1).any(is_token);
    let found = source.split('\n').zip(1..).find(|(line, _)| holds(line));
    found.map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::{Layer, LayerKind};

    fn required(kind: LayerKind, text: &str) -> Vec<(String, Option<u32>)> {
        let layer = Layer::parse(kind, "/e/hiera.yaml", "/code", text.as_bytes());
        let config = layer.config().unwrap();
        let required = config.required.iter();
        required.map(|it| (it.name.to_string(), it.line)).collect()
    }

    #[test]
    fn version_5_needs_all_variables_but_those_of_its_locations() {
        let text = r#"version: 5
hierarchy:
  - {name: a, path: "%{a}.yaml", datadir: "d/%{b}"} # %{c}
  - {name: b, glob: "%{a}/*", datadir: "d/%{ c }/%{b}/%{facts.x}"}
  - {name: c, mapped_paths: [m, n, "%{n}"], lookup_key: eyaml_lookup_key, options: {o: ["%{'d'}", {"%{::e}": 1}]}}
"#;
        let expected = [
            ("b", Some(3)),
            ("c", None),
            ("facts", None),
            ("d", Some(5)),
            ("::e", Some(5)),
        ];
        let expected = expected.map(|(name, line)| (name.to_owned(), line));
        assert_eq!(required(LayerKind::Environment, text), expected);
    }

    #[test]
    fn version_4_and_version_3_need_those_of_their_paths() {
        let text =
            "version: 4\ndatadir: d/%{a}\nhierarchy:\n- {name: n, backend: yaml, path: 'p/%{b}'}\n";
        let expected = [("b".to_owned(), Some(4))];
        assert_eq!(required(LayerKind::Environment, text), expected);
        let text = ":yaml:\n  :datadir: 'd/%{a}'\n:hierarchy:\n- 'p/%{::b}'\n";
        let expected = [("a".to_owned(), Some(2)), ("::b".to_owned(), Some(4))];
        assert_eq!(required(LayerKind::Global, text), expected);
    }
}
