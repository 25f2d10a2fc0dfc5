//! One session answers requests of every kind.

use std::sync::Arc;

use hiera_resolver::data::Texts;
use hiera_resolver::scope::Variables;
use hiera_resolver::snapshot::Parts;
use hiera_resolver::{
    Answer, DataFile, Explain, Format, Hash, Layer, LayerKind, Outcome, Request, Session, Snapshot,
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
    let file = DataFile::decode(path, Format::Yaml, data.as_bytes(), &mut Texts::default());
    let config = config.as_bytes();
    Snapshot::build(Parts {
        environment: Layer::parse(LayerKind::Environment, "/env/hiera.yaml", "/", config),
        files: vec![(Format::Yaml, Arc::new(file))],
        ..Parts::default()
    })
}

fn shown(answer: &Answer) -> (String, String) {
    let outcome = match &answer.outcome {
        Ok(Outcome::Found(value)) => format!("{value:?}"),
        Ok(Outcome::NotFound) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    let explanation = answer.explanation.as_ref();
    let explanation = explanation.map(ToString::to_string).unwrap_or_default();
    (outcome, explanation)
}

#[test]
fn an_explanation_does_not_depend_on_what_was_asked_before() {
    let scope = Variables::new("production", Hash::new(), Hash::new(), Hash::new());
    let kinds = [Explain::Nothing, Explain::Value, Explain::Options];
    let broken = CONFIG.replace("absent.yaml", "%{lookup('x')}");
    for config in [CONFIG, &broken, "version: 6"] {
        let snapshot = snapshot(config);
        let mut session = Session::new(&snapshot, &scope);
        for (before, after) in kinds
            .iter()
            .flat_map(|kind| kinds.map(|other| (*kind, other)))
        {
            for key in ["k", "m::k", "nothing"] {
                let names = [key];
                let request = |explain| Request {
                    explain,
                    ..Request::new(&names)
                };
                let alone = Session::new(&snapshot, &scope).lookup(&request(after));
                session.lookup(&request(before));
                let among_others = session.lookup(&request(after));
                assert_eq!(
                    shown(&among_others),
                    shown(&alone),
                    "{key} {before:?} {after:?}"
                );
            }
        }
    }
    let snapshot = snapshot(CONFIG);
    let mut session = Session::new(&snapshot, &scope);
    session.lookup(&Request::new(&["k"]));
    let explained = session.lookup(&Request {
        explain: Explain::Value,
        ..Request::new(&["k"])
    });
    let (outcome, explanation) = shown(&explained);
    assert_eq!(outcome, format!("{:?}", Value::array(vec![Value::Int(1)])));
    assert!(explanation.contains("absent.yaml"), "{explanation}");
}
