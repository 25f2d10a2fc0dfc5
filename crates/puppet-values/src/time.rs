//! Points and lengths of time in nanoseconds, and Puppet's text of them.

/// A second in nanoseconds.
pub const SECOND: i128 = 1_000_000_000;

/// A point in time as Puppet prints it.
pub fn timestamp_text(time: i128) -> String {
    let seconds = time.div_euclid(SECOND);
    let (year, month, day) = date_of(seconds.div_euclid(86400));
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

/// A length of time as Puppet prints it.
pub fn timespan_text(time: i128) -> String {
    let sign = if time < 0 { "-" } else { "" };
    let total = time.unsigned_abs();
    let second = SECOND.unsigned_abs();
    let seconds = total / second;
    // Puppet drops zeros at the end of the fraction, and those in front of it too.
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

/// The days from 1970 to the first of a month, in the calendar that has no beginning.
pub fn days_before(year: i64, month: i64) -> i128 {
    // A year that begins in March has its leap day at the end.
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

/// Year, month and day.
pub fn date_of(days: i128) -> (i128, i128, i128) {
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
    fn days_go_there_and_back() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = date_of(days);
            let year = i64::try_from(year).unwrap();
            let month = i64::try_from(month).unwrap();
            assert_eq!(days_before(year, month) + day - 1, days);
        }
    }

    #[test]
    fn a_time_is_shown_in_utc() {
        assert_eq!(timestamp_text(0), "1970-01-01T00:00:00.000000000 UTC");
        assert_eq!(timestamp_text(-1), "1969-12-31T23:59:59.999999999 UTC");
    }
}
