//! Literals: numbers, quoted strings and regular expressions.

use num_bigint::BigInt;

use super::super::TypeParseError;
use super::{Lexer, Token, is_word};
use crate::convert::number::parse_decimal;

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> Result<Token, TypeParseError> {
        let start = self.position;
        let rest = self.rest();
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let length = hex.find(|char: char| !is_word(char)).unwrap_or(hex.len());
            let hex = hex.get(..length).unwrap_or_default();
            let number = self.take(2 + length);
            return BigInt::parse_bytes(hex.as_bytes(), 16)
                .filter(|_| !hex.contains('_'))
                .map(Token::Integer)
                .ok_or_else(|| self.fail(start, format!("Not a valid hex number {number}")));
        }
        let mut length = digits(rest);
        let mut is_float = false;
        let after = |length: usize| rest.get(length..).unwrap_or_default();
        if let Some(fraction) = after(length).strip_prefix('.')
            && digits(fraction) > 0
        {
            length += 1 + digits(fraction);
            is_float = true;
        }
        if let Some(exponent) = after(length).strip_prefix(['e', 'E']) {
            let unsigned = exponent.strip_prefix('-').unwrap_or(exponent);
            if digits(unsigned) > 0 {
                length += 1 + (exponent.len() - unsigned.len()) + digits(unsigned);
                is_float = true;
            }
        }
        let follows = after(length);
        length += follows
            .find(|char: char| !is_word(char))
            .unwrap_or(follows.len());
        let number = self.take(length);
        let octal = number
            .strip_prefix('0')
            .filter(|rest| !rest.is_empty() && !rest.starts_with('.'));
        if let Some(octal) = octal {
            return Some(octal)
                .filter(|octal| octal.chars().all(|char| ('0'..='7').contains(&char)))
                .and_then(|octal| BigInt::parse_bytes(octal.as_bytes(), 8))
                .map(Token::Integer)
                .ok_or_else(|| self.fail(start, format!("Not a valid octal number {number}")));
        }
        let token = if is_float {
            parse_decimal(number).map(Token::Float)
        } else {
            Some(number)
                .filter(|number| number.chars().all(|char| char.is_ascii_digit()))
                .and_then(|number| BigInt::parse_bytes(number.as_bytes(), 10))
                .map(Token::Integer)
        };
        token.ok_or_else(|| self.fail(start, bad_number(number)))
    }

    pub(super) fn single_quoted(&mut self) -> Result<Token, TypeParseError> {
        let start = self.position;
        self.take(1);
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((index, char)) = chars.next() {
            match char {
                '\'' => {
                    self.position += index + 1;
                    return Ok(Token::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('\\' | '\''))) => text.push(escaped),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                char => text.push(char),
            }
        }
        Err(self.fail(start, "Unclosed quote after \"'\""))
    }

    pub(super) fn double_quoted(&mut self) -> Result<Token, TypeParseError> {
        let start = self.position;
        self.take(1);
        let mut text = String::new();
        let mut interpolated = false;
        while let Some(char) = self.rest().chars().next() {
            self.take(char.len_utf8());
            match char {
                '"' if interpolated => return Ok(Token::Interpolated),
                '"' => return Ok(Token::Text(text)),
                '\\' => self.escape(&mut text),
                '$' => {
                    let rest = self.rest();
                    let name = rest.strip_prefix("::").unwrap_or(rest);
                    interpolated |= rest.starts_with('{') || name.starts_with(is_word);
                    text.push('$');
                }
                char => text.push(char),
            }
        }
        Err(self.fail(start, "Unclosed quote after '\"'"))
    }

    /// An escape in double quotes, after the backslash.
    fn escape(&mut self, text: &mut String) {
        let rest = self.rest();
        let Some(char) = rest.chars().next() else {
            return text.push('\\');
        };
        if let Some((length, code)) = unicode_escape(rest) {
            self.take(length);
            text.push(code);
            return;
        }
        self.take(char.len_utf8());
        match char {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            's' => text.push(' '),
            '\n' => {}
            '\r' if self.rest().starts_with('\n') => {
                self.take(1);
            }
            '\\' | '$' | '\'' | '"' => text.push(char),
            char => text.extend(['\\', char]),
        }
    }

    pub(super) fn regexp(&mut self) -> Token {
        let mut escaped = false;
        let mut source = String::new();
        let body = self.rest().get(1..).unwrap_or_default();
        for (index, char) in body.char_indices() {
            match char {
                '/' if escaped => {
                    source.pop();
                    source.push('/');
                }
                '/' => {
                    self.position += index + 2;
                    return Token::Regexp(source);
                }
                char => source.push(char),
            }
            escaped = char == '\\' && !escaped;
        }
        self.take(1);
        Token::Other
    }
}

/// What Puppet says of digits and letters that are not a number. Those that start as a decimal have a message of their own.
fn bad_number(number: &str) -> String {
    let after_digits = number.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_decimal = after_digits.starts_with(['e', 'E', '.']);
    if is_decimal && number.parse::<f64>().is_err() {
        format!("Not a valid decimal number {number}")
    } else {
        format!("Illegal number '{number}'")
    }
}

/// The length and the character of `uXXXX` or `u{X...}`.
fn unicode_escape(text: &str) -> Option<(usize, char)> {
    let code = text.strip_prefix('u')?;
    let (length, digits) = match code.strip_prefix('{') {
        Some(code) => {
            let digits = code.get(..code.find('}')?)?;
            (
                digits.len() + 3,
                Some(digits).filter(|digits| digits.len() <= 6)?,
            )
        }
        None => (5, code.get(..4)?),
    };
    if !digits.chars().all(|char| char.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((length, char::from_u32(code)?))
}
