//! Ruby's preprocessing of a pattern: escapes of bytes and code points are resolved everywhere, even in comments.

use super::RegexProblem;

type Result<T> = std::result::Result<T, RegexProblem>;

/// Resolves the escapes of bytes and code points. ASCII characters become `\xHH`, so that they stay literal.
pub(super) fn unescape(pattern: &str) -> Result<String> {
    let mut reader = EscapeReader {
        rest: pattern,
        out: String::with_capacity(pattern.len()),
    };
    while let Some(character) = reader.next() {
        if character == '\\' {
            reader.escape()?;
        } else {
            reader.out.push(character);
        }
    }
    Ok(reader.out)
}

struct EscapeReader<'a> {
    rest: &'a str,
    out: String,
}

impl EscapeReader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// Resolves an escape after its backslash.
    fn escape(&mut self) -> Result<()> {
        let start = self.rest;
        match self.next() {
            None => return Err(RegexProblem::Refused("too short escape sequence")),
            Some('u') => return self.code_points(),
            // A backreference or an ASCII character, which the parser decides.
            Some('1'..='7') if octal(start) <= 0o177 => {}
            Some('0'..='7' | 'x' | 'c' | 'C' | 'M') => {
                self.rest = start;
                return self.bytes();
            }
            Some(_) => {}
        }
        self.out.push('\\');
        let taken = start.len() - self.rest.len();
        self.out.push_str(start.get(..taken).unwrap_or_default());
        Ok(())
    }

    /// One or more escaped bytes that are a character.
    fn bytes(&mut self) -> Result<()> {
        let mut bytes = vec![self.byte()?];
        loop {
            match std::str::from_utf8(&bytes) {
                Ok(text) => {
                    match text.chars().next() {
                        Some(character) if !character.is_ascii() => self.out.push(character),
                        _ => self.push_ascii(u32::from(bytes.first().copied().unwrap_or(0))),
                    }
                    return Ok(());
                }
                Err(error) if error.error_len().is_some() => {
                    return Err(RegexProblem::Refused("invalid multibyte escape"));
                }
                Err(_) => {
                    if self.next() != Some('\\') {
                        let problem = "too short escaped multibyte character";
                        return Err(RegexProblem::Refused(problem));
                    }
                    bytes.push(self.byte()?);
                }
            }
        }
    }

    /// The byte of an escape such as `\x41`, `\101`, `\cA` or `\M-\C-a`, after the backslash.
    fn byte(&mut self) -> Result<u8> {
        let (mut is_control, mut is_meta) = (false, false);
        loop {
            let start = self.rest;
            let mut code = match self.next() {
                None => return Err(RegexProblem::Refused("too short escape sequence")),
                Some('0'..='7') => {
                    let length = octal_length(start);
                    self.rest = start.get(length..).unwrap_or_default();
                    u8::try_from(octal(start))
                        .map_err(|_| RegexProblem::Refused("invalid escape code"))?
                }
                Some('x') => self.hexadecimal_byte()?,
                Some('n') => b'\n',
                Some('t') => b'\t',
                Some('r') => b'\r',
                Some('f') => 0x0C,
                Some('v') => 0x0B,
                Some('a') => 0x07,
                Some('e') => 0x1B,
                Some(kind @ ('M' | 'C' | 'c')) => {
                    let (flag, twice, short) = match kind {
                        'M' => (
                            &mut is_meta,
                            "duplicate meta escape",
                            "too short meta escape",
                        ),
                        _ => (
                            &mut is_control,
                            "duplicate control escape",
                            "too short control escape",
                        ),
                    };
                    if std::mem::replace(flag, true) {
                        return Err(RegexProblem::Refused(twice));
                    }
                    if kind != 'c' && self.next() != Some('-') {
                        return Err(RegexProblem::Refused(short));
                    }
                    match self.next() {
                        Some('\\') if !self.rest.is_empty() => continue,
                        Some('\\') => {
                            return Err(RegexProblem::Refused("too short escape sequence"));
                        }
                        Some(plain) if plain.is_ascii() => plain as u8,
                        _ => return Err(RegexProblem::Refused(short)),
                    }
                }
                Some(_) => return Err(RegexProblem::Refused("unexpected escape sequence")),
            };
            if is_control {
                code &= 0x9F;
            }
            if is_meta {
                code |= 0x80;
            }
            return Ok(code);
        }
    }

    fn hexadecimal_byte(&mut self) -> Result<u8> {
        let digits = self.rest.bytes().take(2);
        let length = digits.take_while(u8::is_ascii_hexdigit).count();
        let byte = u8::from_str_radix(self.rest.get(..length).unwrap_or_default(), 16);
        self.rest = self.rest.get(length..).unwrap_or_default();
        byte.map_err(|_| RegexProblem::Refused("invalid hex escape"))
    }

    /// Resolves `\u0041` or `\u{41 42}` after `\u`.
    fn code_points(&mut self) -> Result<()> {
        let Some(list) = self.rest.strip_prefix('{') else {
            let digits = self.rest.get(..4).unwrap_or_default();
            if digits.len() < 4 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(RegexProblem::Refused("invalid Unicode escape"));
            }
            self.rest = self.rest.get(4..).unwrap_or_default();
            return self.push_code(digits);
        };
        let invalid = RegexProblem::Refused("invalid Unicode list");
        let Some((list, rest)) = list.split_once('}') else {
            return Err(invalid);
        };
        self.rest = rest;
        let mut is_empty = true;
        for digits in
            list.split(|character: char| character.is_ascii_whitespace() || character == '\x0B')
        {
            if digits.is_empty() {
                continue;
            }
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(invalid);
            }
            self.push_code(digits)?;
            is_empty = false;
        }
        if is_empty { Err(invalid) } else { Ok(()) }
    }

    fn push_code(&mut self, digits: &str) -> Result<()> {
        let code = u32::from_str_radix(digits, 16).ok();
        match code.and_then(char::from_u32) {
            Some(character) if character.is_ascii() => self.push_ascii(u32::from(character)),
            Some(character) => self.out.push(character),
            None => return Err(RegexProblem::Refused("invalid Unicode range")),
        }
        Ok(())
    }

    fn push_ascii(&mut self, code: u32) {
        self.out.push_str(&format!("\\x{code:02X}"));
    }
}

fn octal_length(text: &str) -> usize {
    let digits = text.bytes().take(3);
    digits
        .take_while(|digit| (b'0'..=b'7').contains(digit))
        .count()
}

fn octal(text: &str) -> u32 {
    let digits = text.get(..octal_length(text)).unwrap_or_default();
    u32::from_str_radix(digits, 8).unwrap_or(0)
}
