//! Scalars that are times or dates to Psych.

/// `-?\d{4}-\d{1,2}-\d{1,2}([Tt]|\s+)\d{1,2}:\d\d:\d\d(\.\d*)?(\s*(Z|[-+]\d{1,2}:?(\d\d)?))?`
pub(super) fn is_time(text: &[u8]) -> bool {
    Time::parse(text).is_some()
}

/// `\d{4}-(1[012]|0\d|\d)-([12]\d|3[01]|0\d|\d)`
pub(super) fn is_date(text: &[u8]) -> bool {
    let mut cursor = TimeCursor(text);
    let parts = (|| {
        cursor.digits(4, 4)?;
        cursor.byte(b'-')?;
        let month = cursor.digits(1, 2)?;
        cursor.byte(b'-')?;
        Some((month, cursor.digits(1, 2)?))
    })();
    parts.is_some_and(|(month, day)| month <= 12 && day <= 31) && cursor.0.is_empty()
}

/// Whether Psych reads a date of this form as a `Date`, and not as a string because there is no such day.
pub(crate) fn is_representable_date(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut part = || parts.next().unwrap_or(0);
    let (year, month, day) = (part(), part(), part());
    // Ruby's calendar is Julian up to 4 October 1582; the next day is 15 October.
    let julian = (year, month, day) < (1582, 10, 15);
    if julian && (year, month, day) > (1582, 10, 4) {
        return false;
    }
    let leap = year % 4 == 0 && (julian || year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether Psych reads a time of this form as a `Time`, and not as a string because a field is out of range.
pub(crate) fn is_representable_time(text: &str) -> bool {
    Time::parse(text.as_bytes()).is_some_and(|time| {
        let clock = match time.hour {
            0..=23 => time.minute <= 59 && time.second <= 60,
            24 => time.minute == 0 && time.second == 0,
            _ => false,
        };
        (1..=12).contains(&time.month)
            && (1..=31).contains(&time.day)
            && clock
            && time.offset_minutes < 24 * 60
    })
}

struct Time {
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    offset_minutes: u32,
}

impl Time {
    fn parse(text: &[u8]) -> Option<Time> {
        let mut cursor = TimeCursor(text);
        cursor.byte(b'-');
        cursor.digits(4, 4)?;
        cursor.byte(b'-')?;
        let month = cursor.digits(1, 2)?;
        cursor.byte(b'-')?;
        let day = cursor.digits(1, 2)?;
        if cursor.byte(b'T').or(cursor.byte(b't')).is_none() && !cursor.blanks() {
            return None;
        }
        let hour = cursor.digits(1, 2)?;
        cursor.byte(b':')?;
        let minute = cursor.digits(2, 2)?;
        cursor.byte(b':')?;
        let second = cursor.digits(2, 2)?;
        let point = cursor.byte(b'.').is_some();
        while point && cursor.digits(1, 1).is_some() {}
        let mut time = Time {
            month,
            day,
            hour,
            minute,
            second,
            offset_minutes: 0,
        };
        if cursor.0.is_empty() {
            return Some(time);
        }
        cursor.blanks();
        if cursor.byte(b'Z').is_none() {
            cursor.byte(b'+').or(cursor.byte(b'-'))?;
            let hours = cursor.digits(1, 2)?;
            let minutes = match cursor.byte(b':') {
                Some(()) => cursor.digits(2, 2),
                // The pattern reads three digits as one of the hour and two of the minute, but Psych then uses two and one.
                None => cursor.digits(1, 2),
            };
            time.offset_minutes = hours * 60 + minutes.unwrap_or(0);
        }
        cursor.0.is_empty().then_some(time)
    }
}

/// The rest of the input.
struct TimeCursor<'a>(&'a [u8]);

impl TimeCursor<'_> {
    fn byte(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// The next digits, at most `max`.
    fn digits(&mut self, min: usize, max: usize) -> Option<u32> {
        let count = self
            .0
            .iter()
            .take(max)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count < min {
            return None;
        }
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let value = |number: u32, &digit: &u8| number * 10 + u32::from(digit - b'0');
        Some(digits.iter().fold(0, value))
    }

    /// White space without line breaks, which are not allowed in a time.
    fn blanks(&mut self) -> bool {
        let count = self
            .0
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c))
            .count();
        self.0 = self.0.get(count..).unwrap_or_default();
        count > 0
    }
}
