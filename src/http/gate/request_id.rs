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
    /// The number of the request in this process. It becomes text where it is written.
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

    /// A new id.
    pub(super) fn make() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        RequestId::Made(COUNT.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn to_header(&self) -> HeaderValue {
        match self {
            RequestId::Sent(value) => value.clone(),
            // Digits are always a valid header value.
            RequestId::Made(number) => HeaderValue::from_bytes(&made_text(*number))
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
        let mut write = |bytes| out.write_str(std::str::from_utf8(bytes).unwrap_or_default());
        match self {
            RequestId::Sent(value) => write(value.as_bytes()),
            RequestId::Made(number) => write(&made_text(*number)),
        }
    }
}

fn is_valid(value: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic)
}

/// Hexadecimal digits: the first half is drawn when the process starts, the second half is the request's number.
fn made_text(number: u64) -> [u8; 32] {
    static PROCESS: LazyLock<[u8; 16]> =
        LazyLock::new(|| hex_digits(RandomState::new().hash_one("process")));
    let mut text = [0; 32];
    let (process, count) = text.split_at_mut(16);
    process.copy_from_slice(&*PROCESS);
    count.copy_from_slice(&hex_digits(number));
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

/// The digits of a number, the highest first.
fn hex_digits(number: u64) -> [u8; 16] {
    let mut text = [0; 16];
    for (pair, byte) in text.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair.copy_from_slice(HEX_PAIRS.get(usize::from(byte)).unwrap_or(b"00"));
    }
    text
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
        assert_eq!(&hex_digits(0x0123_4567_89ab_cdef), b"0123456789abcdef");
    }
}
