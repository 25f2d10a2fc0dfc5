//! [`RequestId`]: the name of a request in replies and log lines, taken from the client or made.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderName, HeaderValue};

/// Carries the id in requests and replies.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an id that a client sends, to keep log lines short.
const MAX_LENGTH: usize = 128;

/// The id of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestId {
    // Invariant: visible ASCII, not empty, at most `MAX_LENGTH` bytes.
    value: HeaderValue,
}

impl RequestId {
    /// The id that the client sent, if it is valid; otherwise a new one.
    pub(super) fn take_or_make(sent: Option<&HeaderValue>) -> Self {
        match sent.filter(|value| is_usable(value.as_bytes())) {
            Some(value) => RequestId {
                value: value.clone(),
            },
            None => RequestId::make(),
        }
    }

    /// A new id: 32 hexadecimal digits, the first half drawn when the process starts, the second half counted.
    pub(super) fn make() -> Self {
        static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("process"));
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut digits = [0; 32];
        let (process, count) = digits.split_at_mut(16);
        write_hex(*PROCESS, process);
        write_hex(COUNT.fetch_add(1, Ordering::Relaxed), count);
        // Digits are always a valid header value.
        let value = HeaderValue::from_bytes(&digits);
        RequestId {
            value: value.unwrap_or_else(|_| HeaderValue::from_static("0")),
        }
    }

    pub(super) fn into_header(self) -> HeaderValue {
        self.value
    }

    /// A span that puts the id on the log lines within it.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request.id = %self)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.value.to_str().unwrap_or_default())
    }
}

fn is_usable(value: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic)
}

fn write_hex(number: u64, digits: &mut [u8]) {
    let nibbles = (0..16)
        .rev()
        .map(|nibble| (number >> (4 * nibble)) as u8 & 15);
    for (digit, nibble) in digits.iter_mut().zip(nibbles) {
        *digit = match nibble {
            0..=9 => b'0' + nibble,
            _ => b'a' + nibble - 10,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_id_is_taken_and_any_other_replaced() {
        let taken = |sent: &[u8]| {
            let sent = HeaderValue::from_bytes(sent).unwrap();
            RequestId::take_or_make(Some(&sent)).to_string()
        };
        let long = "x".repeat(MAX_LENGTH);
        for sane in ["a", "7f1c-Z/=+:", &long] {
            assert_eq!(taken(sane.as_bytes()), sane);
        }
        let too_long = "x".repeat(MAX_LENGTH + 1);
        for other in ["", "two words", "tab\t", "ü", &too_long] {
            assert_eq!(taken(other.as_bytes()).len(), 32, "{other}");
        }
    }

    #[test]
    fn ids_that_are_made_differ_and_are_hexadecimal() {
        let (one, two) = (RequestId::make().to_string(), RequestId::make().to_string());
        assert_ne!(one, two);
        for id in [one, two] {
            assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
    }

    #[test]
    fn hexadecimal_digits_are_written_from_the_highest() {
        let mut digits = [0; 16];
        write_hex(0x0123_4567_89ab_cdef, &mut digits);
        assert_eq!(&digits, b"0123456789abcdef");
    }
}
