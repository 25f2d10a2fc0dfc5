//! Ruby's `DateTime._strptime`: parses a date by a format, as far as Puppet uses the result.

use psych_yaml::ruby::is_space;
use puppet_values::time::SECOND;

use super::zone;

/// The parsed fields.
#[derive(Clone, Debug, Default)]
pub(super) struct DateFields {
    pub(super) year: Option<i64>,
    pub(super) month: Option<i64>,
    pub(super) day: Option<i64>,
    pub(super) hour: Option<i64>,
    pub(super) minute: Option<i64>,
    pub(super) second: Option<i64>,
    /// The fraction of a second in nanoseconds.
    pub(super) fraction: i128,
    pub(super) zone: Option<String>,
    /// Does the string continue after the format ends?
    pub(super) has_leftover: bool,
    century: Option<i64>,
    is_afternoon: Option<bool>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

/// The maximum number of digits of a field.
const MAX_DIGITS: usize = 12;

/// Parses a string by a format; `None` if it does not fit.
pub(super) fn strptime(text: &str, format: &str) -> Option<DateFields> {
    let mut reader = DateReader {
        rest: text,
        parsed: DateFields::default(),
    };
    reader.read(format)?;
    let DateReader { rest, mut parsed } = reader;
    parsed.has_leftover = !rest.is_empty();
    if let (Some(year), Some(century)) = (&mut parsed.year, parsed.century) {
        *year += century * 100;
    }
    if let (Some(hour), Some(is_afternoon)) = (&mut parsed.hour, parsed.is_afternoon) {
        *hour = *hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    Some(parsed)
}

struct DateReader<'a> {
    rest: &'a str,
    parsed: DateFields,
}

impl DateReader<'_> {
    fn read(&mut self, format: &str) -> Option<()> {
        let mut format = format;
        while let Some(char) = format.chars().next() {
            format = format.get(char.len_utf8()..).unwrap_or_default();
            if is_space(char) {
                self.rest = self.rest.trim_start_matches(is_space);
                continue;
            }
            if char != '%' {
                self.rest = self.rest.strip_prefix(char)?;
                continue;
            }
            let (letter, length) = directive(format);
            let rest = format.get(length..).unwrap_or_default();
            match letter {
                Some(letter) => {
                    self.field(letter, number_follows(rest))?;
                    format = rest;
                }
                // An unknown directive is literal.
                None => self.rest = self.rest.strip_prefix('%')?,
            }
        }
        Some(())
    }

    fn field(&mut self, letter: char, is_packed: bool) -> Option<()> {
        match letter {
            'Y' => self.parsed.year = Some(self.signed(is_packed.then_some(4))?),
            'G' => {
                self.signed(is_packed.then_some(4))?;
            }
            'C' => self.parsed.century = Some(self.signed(is_packed.then_some(2))?),
            'y' => {
                let year = self.number(2, 0, 99)?;
                self.parsed.year = Some(year);
                let century = if year >= 69 { 19 } else { 20 };
                self.parsed.century.get_or_insert(century);
            }
            'g' => {
                self.number(2, 0, 99)?;
            }
            'm' => self.parsed.month = Some(self.number(2, 1, 12)?),
            'd' | 'e' => {
                self.skip_one_space();
                self.parsed.day = Some(self.number(2, 1, 31)?);
            }
            'H' | 'k' => {
                self.skip_one_space();
                self.parsed.hour = Some(self.number(2, 0, 24)?);
            }
            'I' | 'l' => {
                self.skip_one_space();
                self.parsed.hour = Some(self.number(2, 1, 12)?);
            }
            'M' => self.parsed.minute = Some(self.number(2, 0, 59)?),
            'S' => self.parsed.second = Some(self.number(2, 0, 60)?),
            'j' => {
                self.number(3, 1, 366)?;
            }
            'u' => {
                self.number(1, 1, 7)?;
            }
            'w' => {
                self.number(1, 0, 6)?;
            }
            'U' | 'W' => {
                self.number(2, 0, 53)?;
            }
            'V' => {
                self.number(2, 1, 53)?;
            }
            'L' | 'N' => {
                let width = if letter == 'L' { 3 } else { 9 };
                self.fraction(is_packed.then_some(width))?;
            }
            's' | 'Q' => {
                self.signed(None)?;
            }
            'B' | 'b' | 'h' => {
                let month = self.name(&MONTHS)?;
                self.parsed.month = Some(i64::try_from(month).ok()? + 1);
            }
            'A' | 'a' => {
                self.name(&DAYS)?;
            }
            'p' | 'P' => self.half_of_day()?,
            'Z' | 'z' => {
                let (length, _) = zone::find(self.rest)?;
                let (name, rest) = self.rest.split_at_checked(length)?;
                self.parsed.zone = Some(name.to_owned());
                self.rest = rest;
            }
            'n' | 't' => self.rest = self.rest.trim_start_matches(is_space),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            'F' => self.read("%Y-%m-%d")?,
            'T' | 'X' => self.read("%H:%M:%S")?,
            'R' => self.read("%H:%M")?,
            'r' => self.read("%I:%M:%S %p")?,
            'D' | 'x' => self.read("%m/%d/%y")?,
            'c' => self.read("%a %b %e %H:%M:%S %Y")?,
            'v' => self.read("%e-%b-%Y")?,
            '+' => self.read("%a %b %e %H:%M:%S %Z %Y")?,
            _ => return None,
        }
        Some(())
    }

    fn skip_one_space(&mut self) {
        self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
    }

    fn digits(&mut self, most: usize) -> Option<&str> {
        let end = self
            .rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        let (digits, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!digits.is_empty()).then_some(digits)
    }

    fn number(&mut self, most: usize, low: i64, high: i64) -> Option<i64> {
        let number = self.digits(most)?.parse().ok()?;
        (low..=high).contains(&number).then_some(number)
    }

    fn sign(&mut self) -> i64 {
        match self.rest.strip_prefix('-') {
            Some(rest) => {
                self.rest = rest;
                -1
            }
            None => {
                self.rest = self.rest.strip_prefix('+').unwrap_or(self.rest);
                1
            }
        }
    }

    fn signed(&mut self, most: Option<usize>) -> Option<i64> {
        let sign = self.sign();
        let digits = self.digits(most.unwrap_or(usize::MAX))?;
        // Puppet: numbers with more digits are out of range here.
        if digits.len() > MAX_DIGITS {
            return None;
        }
        digits.parse::<i64>().ok().map(|number| sign * number)
    }

    fn fraction(&mut self, most: Option<usize>) -> Option<()> {
        let sign = i128::from(self.sign());
        let digits = self.digits(most.unwrap_or(usize::MAX))?;
        let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
        let fraction: i128 = nine.parse().ok()?;
        self.parsed.fraction = sign * fraction % SECOND;
        Some(())
    }

    /// A name in full, or its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<usize> {
        let starts = |name: &str| {
            self.rest
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let short = |name: &str| name.get(..3).unwrap_or_default().to_owned();
        let index = names.iter().position(|name| starts(&short(name)))?;
        let name = names.get(index)?;
        let length = if starts(name) { name.len() } else { 3 };
        self.rest = self.rest.get(length..)?;
        Some(index)
    }

    /// `AM`, `p.m.`
    fn half_of_day(&mut self) -> Option<()> {
        let lower: String = self
            .rest
            .chars()
            .take(4)
            .collect::<String>()
            .to_ascii_lowercase();
        let words = [("a.m.", false), ("p.m.", true), ("am", false), ("pm", true)];
        let (word, is_afternoon) = words
            .into_iter()
            .find(|(word, _)| lower.starts_with(word))?;
        self.parsed.is_afternoon = Some(is_afternoon);
        self.rest = self.rest.get(word.len()..)?;
        Some(())
    }
}

/// The letter of a directive, if it is one, and its length after the `%`.
fn directive(format: &str) -> (Option<char>, usize) {
    let mut chars = format.chars();
    let first = chars.next();
    let second = chars.next();
    match (first, second) {
        (Some('E'), Some(letter)) if "cCxXyY".contains(letter) => (Some(letter), 2),
        (Some('O'), Some(letter)) if "deHImMSuUVwWy".contains(letter) => (Some(letter), 2),
        (Some(':'), _) => {
            let colons = format.chars().take_while(|char| *char == ':').count();
            let is_zone = colons <= 3
                && format
                    .get(colons..)
                    .is_some_and(|rest| rest.starts_with('z'));
            (is_zone.then_some('z'), colons + 1)
        }
        (Some(letter), _) if "AaBbhCcDdeFGgHIjklLMmNnPpQRrSsTtUuVvWwXxYyZz+%".contains(letter) => {
            (Some(letter), 1)
        }
        _ => (None, 0),
    }
}

/// Does the format continue with digits, so that the field before must not use all of them?
fn number_follows(format: &str) -> bool {
    let Some(directive) = format.strip_prefix('%') else {
        return format.starts_with(|char: char| char.is_ascii_digit());
    };
    let letter = directive.strip_prefix(['E', 'O']).unwrap_or(directive);
    letter.starts_with(|char: char| {
        char.is_ascii_digit() || "CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy".contains(char)
    })
}
