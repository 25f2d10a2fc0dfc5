//! [`TimespanFormat`]: a format of durations such as `%H:%M`.

use psych_yaml::ruby::is_space;
use puppet_values::time::SECOND;
use regex::Regex;

use super::{ConversionError, unusable};

/// A parsed format.
#[derive(Debug)]
pub(super) struct TimespanFormat {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    Value {
        /// `D`, `H`, `M`, `S`, `L` or `N`.
        letter: char,
        padding: Padding,
        width: Option<usize>,
        /// Is it the largest unit, which includes all larger ones?
        is_total: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Padding {
    None,
    Space,
    Zero,
}

/// The letters, largest unit first.
const LETTERS: [char; 6] = ['D', 'H', 'M', 'S', 'L', 'N'];

impl TimespanFormat {
    /// Parses a format.
    pub(super) fn parse(text: &str) -> Result<Self, ConversionError> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut chars = text.chars().enumerate();
        while let Some((start, char)) = chars.next() {
            let mut last = start;
            if char != '%' {
                push_literal(&mut segments, char);
                continue;
            }
            let mut padding = Padding::Zero;
            let mut width: Option<usize> = None;
            let mut is_padding_allowed = true;
            loop {
                let Some((position, char)) = chars.next() else {
                    return Err(bad_specifier(text, start, last));
                };
                last = position;
                match char {
                    '%' => {
                        push_literal(&mut segments, '%');
                        break;
                    }
                    '-' | '_' if is_padding_allowed => {
                        padding = if char == '-' {
                            Padding::None
                        } else {
                            Padding::Space
                        };
                    }
                    '0' if is_padding_allowed => padding = Padding::Zero,
                    letter if LETTERS.contains(&letter) => {
                        segments.push(Segment::Value {
                            letter,
                            padding,
                            width,
                            is_total: false,
                        });
                        break;
                    }
                    char => {
                        let Some(digit) = char.to_digit(10) else {
                            return Err(bad_specifier(text, start, position));
                        };
                        let digit = usize::try_from(digit).unwrap_or(0);
                        width = Some(width.unwrap_or(0).saturating_mul(10).saturating_add(digit));
                    }
                }
                is_padding_allowed = false;
            }
        }
        let is_letter = |segment: &Segment, wanted: char| matches!(segment, Segment::Value { letter, .. } if *letter == wanted);
        let highest = LETTERS
            .into_iter()
            .find(|letter| segments.iter().any(|segment| is_letter(segment, *letter)));
        if let Some(highest) = highest
            && let Some(Segment::Value { is_total, .. }) = segments
                .iter_mut()
                .find(|segment| is_letter(segment, highest))
        {
            *is_total = true;
        }
        Ok(TimespanFormat {
            text: text.to_owned(),
            segments,
        })
    }

    /// Parses a duration. The result is in nanoseconds.
    pub(super) fn read(&self, text: &str) -> Result<i128, ConversionError> {
        let failed = || {
            let format = &self.text;
            unusable(format!("Unable to parse '{text}' using format '{format}'"))
        };
        let pattern: String = self.segments.iter().map(Segment::pattern).collect();
        let regex = Regex::new(&format!(r"\A-?{pattern}\z")).map_err(|_| failed())?;
        let found = regex.captures(text).ok_or_else(failed)?;
        let mut sum: i128 = 0;
        for (segment, group) in self.segments.iter().zip(found.iter().skip(1)) {
            let digits = group.map_or("", |group| group.as_str());
            let digits = digits.trim_start_matches(is_space);
            if let Some(time) = segment.nanoseconds(digits, &failed)? {
                sum = sum.checked_add(time).ok_or_else(failed)?;
            }
        }
        Ok(if text.starts_with('-') { -sum } else { sum })
    }
}

fn push_literal(segments: &mut Vec<Segment>, char: char) {
    match segments.last_mut() {
        Some(Segment::Literal(text)) => text.push(char),
        _ => segments.push(Segment::Literal(char.to_string())),
    }
}

fn bad_specifier(text: &str, start: usize, position: usize) -> ConversionError {
    let length = position.saturating_sub(start);
    let expression: String = text.chars().skip(start).take(length).collect();
    unusable(format!(
        "Bad format specifier '{expression}' in '{text}', at position {position}"
    ))
}

impl Segment {
    fn pattern(&self) -> String {
        let Segment::Value {
            letter,
            padding,
            width,
            is_total,
        } = self
        else {
            let Segment::Literal(text) = self else {
                return String::new();
            };
            return format!("({})", regex::escape(text));
        };
        let default_width = match letter {
            'D' => 1,
            'L' => 3,
            'N' => 9,
            _ => 2,
        };
        match (width, padding) {
            (None, Padding::Space) if *is_total => r"[ \t\n\x0b\x0c\r]*([0-9]+)".to_owned(),
            (None, _) if *is_total => "([0-9]+)".to_owned(),
            (None, Padding::Space) => format!(r"([0-9 \t\n\x0b\x0c\r]{{1,{default_width}}})"),
            (None, _) => format!("([0-9]{{1,{default_width}}})"),
            (Some(width), Padding::None) => format!("([0-9]{{1,{width}}})"),
            (Some(width), Padding::Zero) => format!("([0-9]{{{width}}})"),
            (Some(width), Padding::Space) => format!(r"([0-9 \t\n\x0b\x0c\r]{{{width}}})"),
        }
    }

    /// The duration of the digits; `None` for a literal.
    fn nanoseconds(
        &self,
        digits: &str,
        failed: &dyn Fn() -> ConversionError,
    ) -> Result<Option<i128>, ConversionError> {
        let Segment::Value {
            letter, is_total, ..
        } = self
        else {
            return Ok(None);
        };
        if digits.is_empty() || !digits.chars().all(|char| char.is_ascii_digit()) {
            return Err(failed());
        }
        let number: i128 = digits.parse().map_err(|_| failed())?;
        let weight = match letter {
            'D' => 86400 * SECOND,
            'H' => 3600 * SECOND,
            'M' => 60 * SECOND,
            'S' => SECOND,
            _ if *is_total => {
                return Err(unusable(
                    "Format specifiers %L and %N denotes fractions and must be used together \
                     with a specifier of higher magnitude",
                ));
            }
            _ => match u32::try_from(9usize.saturating_sub(digits.len())) {
                Ok(missing) => 10i128.pow(missing),
                Err(_) => 1,
            },
        };
        number.checked_mul(weight).map(Some).ok_or_else(failed)
    }
}
