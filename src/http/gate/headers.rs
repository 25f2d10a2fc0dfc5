//! [`HeadersRead`]: what the gate learns from the headers of a request.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::browser;
use super::request_id::X_REQUEST_ID;
use crate::http::App;
use crate::metrics::Refusal;

/// Headers with credentials. Once marked, their values are printed as `Sensitive`.
static SENSITIVE_HEADERS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::PROXY_AUTHORIZATION,
    header::COOKIE,
    HeaderName::from_static("x-client-cert"),
];

/// The headers that the gate needs.
pub(super) struct HeadersRead {
    pub(super) request_id: Option<HeaderValue>,
    pub(super) accept_encoding: Option<HeaderValue>,
    /// Why the request is refused, if it is.
    pub(super) refusal: Option<Refusal>,
}

impl HeadersRead {
    /// Reads the headers in one pass, and marks those with credentials.
    pub(super) fn new(headers: &mut HeaderMap, app: &App) -> Self {
        let mut read = HeadersRead {
            request_id: None,
            accept_encoding: None,
            refusal: None,
        };
        let mut is_from_page = false;
        for (name, value) in headers.iter_mut() {
            // Nearly every request has these, and they mean nothing here.
            if *name == header::CONTENT_TYPE || *name == header::CONTENT_LENGTH {
                continue;
            }
            if *name == header::HOST {
                if let Some(hosts) = &app.hosts
                    && !value.to_str().is_ok_and(|host| hosts.allow(host))
                {
                    read.refusal = Some(Refusal::Host);
                }
            } else if *name == header::ACCEPT_ENCODING {
                read.accept_encoding.get_or_insert_with(|| value.clone());
            } else if *name == X_REQUEST_ID {
                read.request_id.get_or_insert_with(|| value.clone());
            } else if *name == header::ORIGIN || *name == browser::SEC_FETCH_SITE {
                is_from_page = true;
            } else if *name == header::CONTENT_ENCODING {
                if !value.as_bytes().eq_ignore_ascii_case(b"identity") {
                    read.refusal = read.refusal.or(Some(Refusal::ContentEncoding));
                }
            } else if SENSITIVE_HEADERS.contains(name) {
                value.set_sensitive(true);
            }
        }
        if is_from_page
            && read.refusal != Some(Refusal::Host)
            && !browser::is_from_allowed_page(headers, &app.cors_origins)
        {
            read.refusal = Some(Refusal::Origin);
        }
        read
    }
}
