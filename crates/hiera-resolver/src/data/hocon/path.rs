//! Paths: `a.b."c.d"`, in keys and in substitutions.

use super::token::{Text, Token};
use super::{Failure, HoconProblem, MAX_DEPTH, fail};

/// Makes a path of tokens. Points outside quotes separate, also those in numbers.
pub(super) fn of_tokens(tokens: &[Token], at: usize) -> Result<Vec<Text>, Failure> {
    let mut parts = vec![Part::default()];
    for token in tokens {
        match token {
            Token::Quoted(text) => {
                if let Some(part) = parts.last_mut() {
                    part.text.extend_from_slice(text);
                    part.may_be_empty |= part.text.is_empty();
                }
            }
            Token::Unquoted(text) | Token::Number { written: text, .. } => {
                append(&mut parts, text);
            }
            Token::Bool(true) => append(&mut parts, b"true"),
            Token::Bool(false) => append(&mut parts, b"false"),
            Token::Null => append(&mut parts, b"null"),
            // Callers pass simple tokens only.
            _ => {}
        }
        if parts.len() > MAX_DEPTH {
            return fail(at, HoconProblem::TooDeep);
        }
    }
    if parts
        .iter()
        .any(|part| part.text.is_empty() && !part.may_be_empty)
    {
        return fail(at, HoconProblem::EmptyPathPart);
    }
    Ok(parts.into_iter().map(|part| part.text.into()).collect())
}

/// A path as written, for messages.
pub(super) fn render(path: &[Text]) -> String {
    let parts: Vec<_> = path.iter().map(render_part).collect();
    parts.join(".")
}

fn render_part(part: &Text) -> String {
    let text = String::from_utf8_lossy(part);
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Is it text without control characters, except for those with a one-letter escape?
pub(super) fn is_writable(part: &Text) -> bool {
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\u{8}' | '\u{C}');
    std::str::from_utf8(part).is_ok_and(|text| text.chars().all(is_plain))
}

#[derive(Default)]
struct Part {
    text: Vec<u8>,
    may_be_empty: bool,
}

fn append(parts: &mut Vec<Part>, text: &[u8]) {
    for (index, piece) in text.split(|&byte| byte == b'.').enumerate() {
        if index > 0 {
            parts.push(Part::default());
        }
        if let Some(part) = parts.last_mut() {
            part.text.extend_from_slice(piece);
        }
    }
}
