//! Templates: their parts in order are the text they were made of.

use crate::api::{Part, Template, Token};

/// Texts with a meaning in templates.
pub const DICTIONARY: &[&str] = &[
    "%{",
    "}",
    "%",
    "{",
    "%{}",
    "%{::}",
    "%{''}",
    "%{\"\"}",
    "%{facts.os.family}",
    "%{::x}",
    "%{lookup('k')}",
    "%{hiera(\"k\")}",
    "%{alias('k.0')}",
    "%{literal('%')}",
    "%{scope('x.y')}",
    "%{nope('x')}",
    "lookup(",
    "('",
    "')",
    "(\"",
    "\")",
    "'",
    "\"",
    " ",
    "\n",
    "\t",
    "\0",
    "::",
    ".",
    "a",
    "ü",
    "%{%{x}}",
];

/// Checks one text.
pub fn check(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let Some(template) = Template::parse(text) else {
        assert!(!text.contains("%{"));
        return;
    };
    assert!(text.contains("%{"));
    assert_eq!(template.source(), text);
    let mut rest = text;
    let mut has_text_before = false;
    for part in template.parts() {
        let after = match part {
            Part::Text(literal) => {
                assert!(!literal.is_empty() && !has_text_before, "texts are joined");
                rest.strip_prefix(literal.as_str())
            }
            Part::Token(token) => {
                let inside = rest
                    .strip_prefix("%{")
                    .and_then(|inside| inside.split_once('}'));
                if let Some((expression, _)) = inside {
                    check_token(token, expression);
                }
                inside.map(|(_, after)| after)
            }
        };
        assert!(after.is_some(), "{part:?} does not come next in {rest:?}");
        has_text_before = matches!(part, Part::Text(_));
        rest = after.unwrap_or_default();
    }
    assert_eq!(rest, "", "is part of the text and of no part");
    check_replaced(&template);
}

fn check_token(token: &Token, expression: &str) {
    match token {
        Token::Empty => assert!(expression.chars().all(|it| !it.is_alphanumeric())),
        Token::Variable(variable) => {
            assert!(expression.contains(variable.text.as_str()));
            if let Ok((name, _)) = &variable.path {
                assert!(variable.text.contains(name.as_str()));
            }
        }
        Token::Call { argument, .. } => {
            let is_quoted = |quote| expression.contains(&format!("({quote}{argument}{quote})"));
            assert!(is_quoted('\'') || is_quoted('"'), "{argument:?}");
        }
    }
}

/// With each token replaced by nothing, what is left is the text parts.
fn check_replaced(template: &Template) {
    let parts = template.parts().iter();
    let literals: String = parts
        .filter_map(|part| match part {
            Part::Text(literal) => Some(literal.as_str()),
            Part::Token(_) => None,
        })
        .collect();
    assert_eq!(template.with_tokens_as(""), literals);
}
