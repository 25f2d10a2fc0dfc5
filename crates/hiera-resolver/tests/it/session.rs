//! Sessions: many lookups on one view of an environment, with and without explanations.

use std::sync::Arc;

use hiera_resolver::data::Texts;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{
    Answer, DataFile, Explain, Format, Layer, LayerKind, Node, Outcome, Request, Session, Snapshot,
    Value,
};

const CONFIG: &str = "
version: 5
hierarchy:
  - {name: absent, path: absent.yaml}
  - {name: common, path: common.yaml}
";

fn snapshot(config: &str) -> Snapshot {
    let data = "lookup_options: {k: {merge: unique}}\nk: [1]\nm::k: 2\n";
    let path = "/env/data/common.yaml";
    let file = DataFile::decode(path, Format::YAML, data.as_bytes(), &mut Texts::default());
    let config = config.as_bytes();
    Snapshot::build(Parts {
        environment: Layer::parse(LayerKind::Environment, "/env/hiera.yaml", "/", config),
        files: vec![(Format::YAML, Arc::new(file))],
        ..Parts::default()
    })
}

fn shown(answer: &Answer) -> String {
    match &answer.outcome {
        Ok(Outcome::Found(value)) => format!("{value:?}"),
        Ok(Outcome::NotFound) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_answer_does_not_depend_on_earlier_lookups_of_the_session() {
    let scope = Node::new("production");
    let keys = ["k", "m::k", "nothing"];
    let broken = CONFIG.replace("absent.yaml", "%{lookup('x')}");
    for config in [CONFIG, &broken, "version: 6"] {
        let snapshot = snapshot(config);
        let mut session = Session::new(&snapshot, &scope);
        for (before, after) in keys.iter().flat_map(|key| keys.map(|other| (*key, other))) {
            session.lookup(&Request::new(&[before]));
            let among_others = session.lookup(&Request::new(&[after]));
            let alone = Session::new(&snapshot, &scope).lookup(&Request::new(&[after]));
            assert_eq!(shown(&among_others), shown(&alone), "{before} {after}");
        }
        for explain in [Explain::Value, Explain::Options] {
            let mut session = Session::explaining(&snapshot, &scope, explain);
            for (before, after) in keys.iter().flat_map(|key| keys.map(|other| (*key, other))) {
                session.lookup(&Request::new(&[before]));
                let (among_others, explanation) = session.lookup(&Request::new(&[after]));
                let (alone, expected) =
                    Session::explaining(&snapshot, &scope, explain).lookup(&Request::new(&[after]));
                let context = format!("{before} {after} {explain:?}");
                assert_eq!(shown(&among_others), shown(&alone), "{context}");
                assert_eq!(explanation.to_string(), expected.to_string(), "{context}");
            }
        }
    }
}

#[test]
fn an_explanation_names_paths_without_a_file() {
    let scope = Node::new("production");
    let snapshot = snapshot(CONFIG);
    let mut session = Session::explaining(&snapshot, &scope, Explain::Value);
    let (answer, explanation) = session.lookup(&Request::new(&["k"]));
    let expected = format!("{:?}", Value::array(vec![Value::Int(1)]));
    assert_eq!(shown(&answer), expected);
    let explanation = explanation.to_string();
    assert!(explanation.contains("absent.yaml"), "{explanation}");
}
