//! Requests and connections that are refused without a request that could pass the gate: heads that hyper refuses (too
//! long, too large, not HTTP) or that [`HeadFault`] describes, and connections that exceed a limit.
//!
//! hyper only writes a bare status. These replies are problem documents instead, are counted here, and have no request
//! id.

use std::time::Duration;

use super::App;
use super::error::{ApiError, ErrorKind};
use super::gate::Excess;
use crate::metrics::Refusal;

/// The header that hyper writes if a response has no body.
const NO_BODY: &str = "content-length: 0\r\n";

/// What RFC 9112 forbids in a request and hyper accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeadFault {
    /// A line without a carriage return.
    #[error("a line ends with a bare line feed; lines end with a carriage return and a line feed")]
    BareLineFeed,
    /// A line that continues the one before.
    #[error("a field is continued on a second line")]
    FoldedLine,
    /// No `Host` in a request of HTTP/1.1.
    #[error("the field `Host` is missing")]
    NoHost,
    /// More than one `Host`.
    #[error("there is more than one field `Host`")]
    SeveralHosts,
    /// Two ways to tell the length of the body.
    #[error("there are both `Content-Length` and `Transfer-Encoding`")]
    LengthAndEncoding,
    /// `Content-Length` is not a number, or several that differ.
    #[error("`Content-Length` is not one number")]
    BadLength,
    /// A transfer coding other than `chunked`.
    #[error("the only supported `Transfer-Encoding` is `chunked`")]
    UnknownEncoding,
    /// The size of a chunk is not a number.
    #[error("the size of a chunk is not a number, or too long")]
    BadChunk,
}

/// What the server knows about a head that hyper has refused.
#[derive(Debug, Default)]
pub(crate) struct RefusedHead {
    /// What is wrong with it, if hyper did not find it itself.
    pub(crate) fault: Option<HeadFault>,
    /// The size of its first line, or of the part that has arrived.
    pub(crate) request_line_size: usize,
}

impl App {
    /// Replaces a response that hyper made by itself, and counts it; `None` for any other response.
    pub(crate) fn replace_refusal(&self, response: &[u8], head: &RefusedHead) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(response).ok()?;
        let (_, fields) = text.split_once("\r\n")?;
        let (before, after) = fields.split_once(NO_BODY)?;
        if !after.ends_with("\r\n\r\n") {
            return None;
        }
        let problem = self.problem_of(text.split(' ').nth(1)?, head)?;
        self.metrics
            .count_request(problem.kind().status().as_u16(), Duration::ZERO);
        // The last two bytes end the head.
        let after = after.strip_suffix("\r\n")?;
        Some(problem.to_message(&[before, after]))
    }

    fn problem_of(&self, status: &str, head: &RefusedHead) -> Option<ApiError> {
        let max_size = self.max_head_size;
        Some(match (status, head.fault) {
            ("400", Some(fault)) => {
                self.metrics.count_refusal(Refusal::Head);
                ApiError::bad_request(format!("the request is not valid HTTP/1.1: {fault}"))
            }
            ("400", None) => ApiError::bad_request("the head of the request is not HTTP"),
            ("414", _) => uri_too_long(max_size),
            ("431", _) if head.request_line_size >= max_size => uri_too_long(max_size),
            ("431", _) => ApiError::new(
                ErrorKind::HeadTooLarge,
                format!(
                    "the head of the request is larger than {max_size} bytes (`connections.max_head_size`) or has more \
                     than 100 fields"
                ),
            ),
            _ => return None,
        })
    }

    /// The response for a connection that exceeds a limit. It is counted.
    pub(crate) fn refuse_connection(&self, reason: Refusal, excess: Excess) -> Vec<u8> {
        let problem = self.overloaded(reason, excess);
        problem.to_message(&["connection: close\r\nretry-after: 1\r\n"])
    }

    /// Counts a connection that was closed since its client did not read.
    pub(crate) fn count_send_timeout(&self) {
        self.metrics.count_refusal(Refusal::SendTimeout);
    }
}

fn uri_too_long(max_size: usize) -> ApiError {
    let detail = format!(
        "the URI is longer than 65534 bytes, or than the whole head may be ({max_size} bytes, \
         `connections.max_head_size`); send a long request as POST /lookup"
    );
    ApiError::new(ErrorKind::UriTooLong, detail)
}

impl ApiError {
    /// The whole response, with these further lines in its head.
    fn to_message(&self, fields: &[&str]) -> Vec<u8> {
        let mut body = Vec::with_capacity(256);
        self.write(&mut body);
        let status = self.kind().status();
        let mut message = format!(
            "HTTP/1.1 {} {}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n{}\r\n",
            status.as_str(),
            status.canonical_reason().unwrap_or_default(),
            body.len(),
            fields.concat(),
        )
        .into_bytes();
        message.append(&mut body);
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::environments::Environments;

    #[test]
    fn only_bare_refusals_are_replaced() {
        let app = App::new(Environments::new(), Limits::default());
        let replaced = |response: &str| {
            let replaced = app.replace_refusal(response.as_bytes(), &RefusedHead::default());
            replaced.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let bare = "HTTP/1.1 431 X\r\nconnection: close\r\ncontent-length: 0\r\ndate: d\r\n\r\n";
        let text = replaced(bare).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
        assert!(head.ends_with("\r\nconnection: close\r\ndate: d"), "{head}");
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{head}"
        );
        assert!(
            body.starts_with(r#"{"type":"/problems/head-too-large""#),
            "{body}"
        );
        for other in [
            "HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 X\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 X\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 X\r\n",
            "HTTP/1.1 400",
        ] {
            assert_eq!(replaced(other), None, "{other}");
        }
    }

    #[test]
    fn a_fault_and_a_long_request_line_are_named() {
        let app = App::new(Environments::new(), Limits::default());
        let replaced = |status: &str, head: &RefusedHead| {
            let bare = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\ndate: d\r\n\r\n");
            let replaced = app.replace_refusal(bare.as_bytes(), head).unwrap();
            String::from_utf8(replaced).unwrap()
        };
        let fault = RefusedHead {
            fault: Some(HeadFault::NoHost),
            request_line_size: 16,
        };
        assert!(replaced("400", &fault).contains("`Host` is missing"));
        let long = RefusedHead {
            fault: None,
            request_line_size: 65_536,
        };
        let text = replaced("431", &long);
        assert!(text.starts_with("HTTP/1.1 414 URI Too Long\r\n"), "{text}");
        assert!(text.contains("/problems/uri-too-long"), "{text}");
    }

    #[test]
    fn a_refused_connection_gets_a_whole_response() {
        let app = App::new(Environments::new(), Limits::default());
        let response = app.refuse_connection(Refusal::ConnectionsPerAddress, Excess::OfClient(7));
        let text = String::from_utf8(response).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"),
            "{head}"
        );
        assert!(head.contains("\r\nretry-after: 1"), "{head}");
        assert!(
            head.contains(&format!("content-length: {}", body.len())),
            "{head}"
        );
        assert!(
            body.contains("the limit is 7 (`connections.max_connections_per_address`)"),
            "{body}"
        );
    }
}
