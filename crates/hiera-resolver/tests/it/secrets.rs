//! Explanations and errors show no decrypted value and no Sensitive, but they show the plain values next to them.
//!
//! The trees and lookups are random, but the same in every run. Every secret contains `SECRET`, and every plain string is
//! a unique word.

mod random_tree;

use std::fmt::Write;

use hiera_resolver::{
    Answer, Explain, Explanation, Hash, MergeStrategy, Node, Outcome, Request, Session, Type, Value,
};

use self::random_tree::{KEYS, MARK, RandomTree};

const REDACTED: &str = "Sensitive [value redacted]";

/// Everything that a lookup shows besides its value: the error and the explanation, as text and as data.
fn shown_text(answer: &Answer, explanation: Option<&Explanation>) -> String {
    let mut text = String::new();
    if let Err(error) = &answer.outcome {
        write!(text, "{error}").unwrap();
    }
    if let Some(explanation) = explanation {
        write!(text, "\n{explanation}\n").unwrap();
        puppet_values::ruby_text::inspect(&explanation.to_value(), &mut text);
    }
    text
}

#[test]
fn explanations_and_errors_show_plain_values_but_no_secret() {
    let facts: Hash = [("fact".into(), Value::str("known"))].into_iter().collect();
    let scope = Node::new("production").facts(facts);
    let merges = ["first", "unique", "hash", "deep"]
        .map(|name| MergeStrategy::parse(&Value::str(name)).unwrap());
    let types = ["Integer", "Hash[String, Integer]", "Enum['a', 'b']"]
        .map(|text| Type::parse(text).unwrap());
    let (mut visible, mut hidden, mut failed) = (0, 0, 0);
    for seed in 1..300 {
        let mut tree = RandomTree::new(seed);
        let snapshot = tree.snapshot();
        for key in 0..KEYS {
            let dotted = match tree.random.below(4) {
                0 => format!("k{key}.m{}", tree.random.below(3)),
                1 => format!("k{key}.{}", tree.random.below(3)),
                _ => format!("k{key}"),
            };
            let names = [dotted.as_str()];
            let merge = merges.get(tree.random.below(8));
            let plain = Request {
                merge,
                ..Request::new(&names)
            };
            let typed = |value_type| Request {
                value_type: Some(value_type),
                ..plain
            };
            let typed = types.iter().map(typed);
            let typed = typed.map(|request| (request, Some(Explain::Value)));
            let kinds = [None, Some(Explain::Value), Some(Explain::Options)];
            for (request, explain) in typed.chain(kinds.map(|kind| (plain, kind))) {
                let (answer, explanation) = request.answer(&snapshot, &scope, explain);
                let text = shown_text(&answer, explanation.as_deref());
                let context = || format!("seed {seed} {request:?}\n{:#?}\n{text}", tree.files);
                assert!(!text.contains(MARK), "{}", context());
                hidden += usize::from(text.contains(REDACTED));
                failed += usize::from(answer.outcome.is_err());
                let is_plain = !tree.sensitive.contains(&key);
                if answer.outcome.is_err() || explain != Some(Explain::Value) || !is_plain {
                    continue;
                }
                // The highest value is always shown, with all plain words in it.
                let files = tree.plain[key].iter();
                for word in files
                    .clone()
                    .find(|words| !words.is_empty())
                    .into_iter()
                    .flatten()
                {
                    let is_first = tree.files.iter().find(|file| {
                        file.contains(&format!("\nk{key}: "))
                            || file.starts_with(&format!("k{key}: "))
                    });
                    if is_first.is_some_and(|file| file.contains(word.as_str())) {
                        assert!(text.contains(word.as_str()), "{word}: {}", context());
                        visible += 1;
                    }
                }
            }
        }
    }
    assert!(
        visible > 300 && hidden > 500 && failed > 500,
        "{visible} {hidden} {failed}"
    );
}

#[test]
fn plain_values_next_to_a_secret_are_shown() {
    let mut tree = RandomTree::new(1);
    tree.files = [
        "db: {user: bob, password: 'ENC[2retnuh]'}\nafter: '%{lookup(''db.user'')} and %{lookup(''plain'')}'\nurl: '%{lookup(''db.password'')}@host'\n".to_owned(),
        "db: {port: 5432, password: low}\n".to_owned(),
        "lookup_options: {db: {merge: deep}, wrong: {merge: hash}, number: {convert_to: Integer}}\nplain: word\nwrong: [1]\nnumber: 'ENC[neves]'\nplain_number: many\nmixed: '%{lookup(''number'')}'\n".to_owned(),
    ];
    tree.files[1] += "wrong: {a: 1}\n";
    let snapshot = tree.snapshot();
    let scope = Node::new("production");
    let ask = |key: &str| {
        let names = [key];
        let mut session = Session::explaining(&snapshot, &scope, Explain::Value);
        let (answer, explanation) = session.lookup(&Request::new(&names));
        (shown_text(&answer, Some(&explanation)), answer.outcome)
    };
    let (text, outcome) = ask("db");
    assert!(matches!(outcome, Ok(Outcome::Found(_))));
    for shown in [
        "\"user\" => \"bob\"",
        "\"port\" => 5432",
        "\"password\" => Sensitive",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
    // A plain value after a secret is not hidden.
    let (text, _) = ask("after");
    assert!(
        text.contains("\"bob and word\"") && !text.contains("hunter2"),
        "{text}"
    );
    let (text, _) = ask("url");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(
        text.contains("Found key: \"url\" value: Sensitive"),
        "{text}"
    );
    // An error about plain values shows them, one about a secret does not.
    let (text, outcome) = ask("wrong");
    assert!(
        outcome.unwrap_err().to_string().contains("got Tuple"),
        "{text}"
    );
    let (text, outcome) = ask("mixed");
    let error = outcome.unwrap_err().to_string();
    assert!(
        error.contains("not shown") && !text.contains("seven"),
        "{text}"
    );
}
