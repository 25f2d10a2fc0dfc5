//! Timestamps and durations in nanoseconds, as Puppet prints them, and the calendar behind them.

/// A second in nanoseconds.
pub const SECOND: i128 = 1_000_000_000;

/// A timestamp (nanoseconds since 1970 in UTC) as Puppet prints it.
///
/// ```
/// assert_eq!(puppet_values::time::format_timestamp(0), "1970-01-01T00:00:00.000000000 UTC");
/// ```
pub fn format_timestamp(time: i128) -> String {
    let seconds = time.div_euclid(SECOND);
    let (year, month, day) = date_from_days(seconds.div_euclid(86400));
    let second = seconds.rem_euclid(86400);
    let sign = if year < 0 { "-" } else { "" };
    format!(
        "{sign}{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:09} UTC",
        year.abs(),
        second / 3600,
        second / 60 % 60,
        second % 60,
        time.rem_euclid(SECOND),
    )
}

/// A duration in nanoseconds as Puppet prints it.
///
/// ```
/// use puppet_values::time::{SECOND, format_timespan};
/// assert_eq!(format_timespan(90 * SECOND), "0-00:01:30.0");
/// ```
pub fn format_timespan(time: i128) -> String {
    let sign = if time < 0 { "-" } else { "" };
    let total = time.unsigned_abs();
    let second = SECOND.unsigned_abs();
    let seconds = total / second;
    // Puppet drops the zeros at the end of the fraction, and also those at its start.
    let fraction = (total % second).to_string();
    let fraction = match fraction.trim_end_matches('0') {
        "" => "0",
        fraction => fraction,
    };
    format!(
        "{sign}{}-{:02}:{:02}:{:02}.{fraction}",
        seconds / 86400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    )
}

/// The days from 1970-01-01 to the first day of a month, in the proleptic Gregorian calendar.
pub fn days_to_month(year: i64, month: i64) -> i128 {
    // If years start in March, the leap day is the last day of a year.
    let (year, month) = (i128::from(year), i128::from(month));
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

/// The year, month and day that is some days after 1970-01-01.
pub fn date_from_days(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_survive_a_round_trip() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = date_from_days(days);
            let year = i64::try_from(year).unwrap();
            let month = i64::try_from(month).unwrap();
            assert_eq!(days_to_month(year, month) + day - 1, days);
        }
    }

    #[test]
    fn timestamps_are_printed_in_utc() {
        assert_eq!(format_timestamp(0), "1970-01-01T00:00:00.000000000 UTC");
        assert_eq!(format_timestamp(-1), "1969-12-31T23:59:59.999999999 UTC");
    }
}
