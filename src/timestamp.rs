//! Points in time as text.

use std::time::SystemTime;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A time in UTC, to the second.
pub(crate) fn rfc_3339(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time).truncate_to_second();
    // Only a year beyond 9999 has no such form.
    time.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn times_are_in_utc_to_the_second() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(999);
            assert_eq!(rfc_3339(time), expected);
        }
    }
}
