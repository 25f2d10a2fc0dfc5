//! [`RequestId`]: the name of a request in replies and log lines, taken from the client or made.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderName, HeaderValue};

/// Carries the id in requests and replies.
pub(super) static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an id that a client sends, to keep log lines short.
const MAX_LENGTH: usize = 128;

/// The id of a request.
#[derive(Clone, Debug)]
pub(crate) enum RequestId {
    /// From the client: visible ASCII, not empty, at most `MAX_LENGTH` bytes.
    Sent(HeaderValue),
    /// A number, which becomes hexadecimal digits where it is written.
    Made(u64),
}

impl RequestId {
    /// The id that the client sent, if it is valid; otherwise a new one.
    pub(super) fn take_or_make(sent: Option<HeaderValue>) -> Self {
        match sent.filter(|value| is_valid(value.as_bytes())) {
            Some(value) => RequestId::Sent(value),
            None => RequestId::make(),
        }
    }

    /// A new id: counted from a random start, so that ids of different processes differ as well.
    pub(super) fn make() -> Self {
        static NEXT: LazyLock<AtomicU64> =
            LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one("process")));
        RequestId::Made(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn to_header(&self) -> HeaderValue {
        match self {
            RequestId::Sent(value) => value.clone(),
            // Digits are always a valid header value.
            RequestId::Made(number) => HeaderValue::from_bytes(&hex_digits(*number))
                .unwrap_or_else(|_| HeaderValue::from_static("0")),
        }
    }

    /// A span that puts the id on the log lines within it.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request.id = %self)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Sent(value) => {
                out.write_str(std::str::from_utf8(value.as_bytes()).unwrap_or_default())
            }
            RequestId::Made(number) => write!(out, "{number:016x}"),
        }
    }
}

/// The digits of a number, the highest first.
fn hex_digits(number: u64) -> [u8; 16] {
    let mut text = [0; 16];
    for (pair, byte) in text.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair.copy_from_slice(HEX_PAIRS.get(usize::from(byte)).unwrap_or(b"00"));
    }
    text
}

/// The two digits of each byte.
#[expect(clippy::indexing_slicing, reason = "runs in the compiler")]
static HEX_PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

fn is_valid(value: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_id_is_taken_and_any_other_replaced() {
        let taken = |sent: &[u8]| {
            let sent = HeaderValue::from_bytes(sent).unwrap();
            RequestId::take_or_make(Some(sent)).to_string()
        };
        let long = "x".repeat(MAX_LENGTH);
        for sane in ["a", "7f1c-Z/=+:", &long] {
            assert_eq!(taken(sane.as_bytes()), sane);
        }
        let too_long = "x".repeat(MAX_LENGTH + 1);
        for other in ["", "two words", "tab\t", "ü", &too_long] {
            let made = taken(other.as_bytes());
            assert!(u64::from_str_radix(&made, 16).is_ok(), "{other}: {made}");
        }
    }

    #[test]
    fn ids_that_are_made_differ_and_are_the_same_in_headers_and_logs() {
        let (one, two) = (RequestId::make(), RequestId::make());
        assert_ne!(one.to_string(), two.to_string());
        for id in [one, two] {
            assert_eq!(id.to_header(), id.to_string());
        }
    }
}
