//! Request heads that hyper rejects by itself (too long, too large, not HTTP): its bare status → a problem document.
//!
//! There is no request that could pass the gate, so such a reply is counted here and has no request id.

use std::time::Duration;

use super::App;
use super::error::{ApiError, ErrorKind};

/// The maximum size of a request head in bytes. hyper's default, repeated so that the problem can name it.
pub(crate) const MAX_HEAD_SIZE: usize = 417_792;

/// The header that hyper writes if a response has no body.
const NO_BODY: &str = "content-length: 0\r\n";

impl App {
    /// Replaces a response that hyper made by itself, and counts it; `None` for any other response.
    pub(crate) fn replace_refusal(&self, response: &[u8]) -> Option<Vec<u8>> {
        let head = std::str::from_utf8(response).ok()?;
        let (start, rest) = head.split_once(NO_BODY)?;
        if !rest.ends_with("\r\n\r\n") {
            return None;
        }
        let problem = refusal(head.split(' ').nth(1)?)?;
        let mut body = Vec::with_capacity(256);
        problem.write(&mut body);
        let mut replaced = format!(
            "{start}content-type: application/problem+json\r\ncontent-length: {}\r\n{rest}",
            body.len()
        )
        .into_bytes();
        replaced.append(&mut body);
        self.metrics
            .count_request(problem.kind().status().as_u16(), Duration::ZERO);
        Some(replaced)
    }
}

fn refusal(status: &str) -> Option<ApiError> {
    Some(match status {
        "400" => ApiError::new(ErrorKind::BadRequest, "the head of the request is not HTTP"),
        "414" => ApiError::new(
            ErrorKind::UriTooLong,
            "the URI is longer than 65534 bytes; send a long request as POST /lookup",
        ),
        "431" => ApiError::new(
            ErrorKind::HeadTooLarge,
            format!(
                "the head of the request is larger than {MAX_HEAD_SIZE} bytes or has more than 100 fields"
            ),
        ),
        _ => return None,
    })
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
            let replaced = app.replace_refusal(response.as_bytes());
            replaced.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let bare = "HTTP/1.1 431 X\r\nconnection: close\r\ncontent-length: 0\r\ndate: d\r\n\r\n";
        let text = replaced(bare).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 431 X\r\nconnection: close\r\n"));
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
}
