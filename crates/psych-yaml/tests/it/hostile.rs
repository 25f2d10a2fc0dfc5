//! Malicious and broken documents: each must give a result in time, without a panic.

use std::time::{Duration, Instant};

use psych_yaml::{Builder, Limit, Limits, Problem, ReadError, Yaml, parse, read};

/// Far more than any of them takes, and far less than they would take without limits.
const TIMEOUT: Duration = Duration::from_secs(20);

fn refusal(text: &str) -> Problem {
    let started = Instant::now();
    let error = parse(text.as_bytes()).expect_err("the document exceeds a limit");
    assert!(started.elapsed() < TIMEOUT, "{error} took too long");
    error.problem().clone()
}

#[test]
fn depth_is_limited() {
    let deep = 100_000;
    for (text, limit) in [
        ("[".repeat(deep), Limit::FlowDepth(256)),
        ("{a: ".repeat(deep), Limit::FlowDepth(256)),
        ("- ".repeat(deep), Limit::Depth(500)),
        ("? ".repeat(deep), Limit::Depth(500)),
    ] {
        assert_eq!(refusal(&text), Problem::Limit(limit));
    }
    let nested = |depth| format!("{}{}", "- ".repeat(depth), "x");
    assert!(parse(nested(500).as_bytes()).is_ok());
    assert_eq!(refusal(&nested(501)), Problem::Limit(Limit::Depth(500)));
}

#[test]
fn aliases_count_with_their_depth() {
    let mut text = String::from("a0: &a0 [x]\n");
    for link in 1..600 {
        text += &format!("a{link}: &a{link} [*a{}]\n", link - 1);
    }
    assert_eq!(refusal(&text), Problem::Limit(Limit::Depth(500)));
}

#[test]
fn aliases_count_with_their_size() {
    let limits = Limits {
        expanded_nodes: 10_000,
        ..Limits::default()
    };
    let refused = |text: &str| {
        let error = read(text.as_bytes(), &limits, &mut Builder).expect_err("too many");
        error.problem().clone()
    };
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for link in 1..20 {
        let aliases = vec![format!("*a{}", link - 1); 9].join(", ");
        bomb += &format!("a{link}: &a{link} [{aliases}]\n");
    }
    let mut merges = String::from("a: &a {k1: 1, k2: 2, k3: 3, k4: 4}\n");
    for number in 0..2_000 {
        merges += &format!("b{number}: {{<<: *a}}\n");
    }
    let mut open_merges = String::from("a: &a\n");
    for number in 0..2_000 {
        open_merges += &format!("  b{number}: {{<<: [*a, *a]}}\n");
    }
    for text in [bomb, merges, open_merges] {
        assert_eq!(refused(&text), Problem::Limit(Limit::ExpandedNodes(10_000)));
    }
}

#[test]
fn nodes_are_counted() {
    let limits = Limits {
        nodes: 3,
        ..Limits::default()
    };
    let read = |text: &[u8]| read(text, &limits, &mut Builder);
    assert!(read(b"[a, b]").is_ok());
    let error = read(b"[a, b, c]").expect_err("four nodes");
    assert_eq!(error.problem(), &Problem::Limit(Limit::Nodes(3)));
}

#[test]
fn integers_and_directives_are_limited() {
    let digits = "1".repeat(1_000_000);
    for text in [
        format!("k: {digits}"),
        format!("k: 0x{digits}"),
        format!("k: {digits}:30"),
    ] {
        assert_eq!(refusal(&text), Problem::Limit(Limit::IntegerLength(50_000)));
    }
    let directives: String = (0..100_000)
        .map(|number| format!("%TAG !a{number}! x\n"))
        .collect();
    assert_eq!(
        refusal(&directives),
        Problem::Limit(Limit::Directives(1000))
    );
}

#[test]
fn recursive_collections_are_refused() {
    for text in [
        "&a [*a]",
        "&a {k: *a}",
        "&a {*a : k}",
        "&a [{<<: *a}]",
        "&a {k: {<<: [*a, 1]}}",
        "&a {k: [b, {c: *a}]}",
    ] {
        let name = "a".to_owned();
        assert_eq!(refusal(text), Problem::RecursiveAlias { name }, "{text}");
    }
}

#[test]
fn mutated_documents_are_read_or_refused() {
    let corpus: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../cases/yaml_cases.json")).unwrap();
    let texts: Vec<&[u8]> = corpus
        .iter()
        .filter_map(|case| Some(case["yaml"].as_str()?.as_bytes()))
        .collect();
    let pieces: [&[u8]; 24] = [
        b"\n",
        b" ",
        b": ",
        b"- ",
        b"[",
        b"]",
        b"{",
        b"}",
        b"\"",
        b"'",
        b"|\n",
        b">+\n",
        b"&a ",
        b"*a",
        b"!!str ",
        b"!!omap ",
        b"<<: ",
        b"? ",
        b"---\n",
        b"...\n",
        b"%TAG ! x\n",
        b"\xff",
        b"\xc3\xa9",
        b"\xef\xbb\xbf",
    ];
    let mut random = Random(0x5eed);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..6_000 {
        let mut text = texts[random.below(texts.len())].to_vec();
        for _ in 0..=random.below(4) {
            let offset = random.below(text.len() + 1);
            match random.below(4) {
                0 => drop(text.splice(offset..offset, pieces[random.below(pieces.len())].to_vec())),
                1 => text.truncate(offset),
                2 => {
                    let other = texts[random.below(texts.len())];
                    let from = random.below(other.len() + 1);
                    drop(text.splice(offset..offset, other[from..].to_vec()));
                }
                _ => {
                    if let Some(byte) = text.get_mut(offset) {
                        *byte = u8::try_from(random.below(256)).unwrap();
                    }
                }
            }
        }
        match parse(&text) {
            Ok(value) => {
                good += 1;
                value.unwrap_or(Yaml::Null).to_yaml().unwrap();
            }
            Err(error) => {
                bad += 1;
                check_error(&error, &text);
            }
        }
    }
    assert!(good > 500 && bad > 500, "{good} valid, {bad} invalid");
}

/// An error is one line, and its position is in the document.
fn check_error(error: &ReadError, text: &[u8]) {
    assert!(!error.to_string().contains('\n'), "{error}");
    assert!(!error.puppet_message("path").is_empty());
    let lines = String::from_utf8_lossy(text)
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .count();
    // The end of the document is the start of a line.
    assert!(error.mark().line as usize <= lines + 1, "{error}");
}

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}
