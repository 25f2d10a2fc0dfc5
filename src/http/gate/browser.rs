//! Requests that a browser sends for web pages: those of other servers' pages are refused.
//!
//! A browser tells which page a request comes from, and pages cannot change that. Other clients say nothing about pages
//! and are not affected.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::config::CorsOrigins;

/// Whether a request comes from a page of the same origin, the same site, or another site.
pub(super) static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Does this request come from a page of this server or of an allowed origin?
pub(super) fn is_from_allowed_page(headers: &HeaderMap, allowed: &CorsOrigins) -> bool {
    let host = headers.get(header::HOST);
    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    if origins.peek().is_some() {
        return origins.all(|origin| allowed.contains(origin) || is_own(origin, host));
    }
    // Browsers leave out the origin where the page does not get to see the answer.
    let mut sites = headers.get_all(&SEC_FETCH_SITE).iter();
    sites.all(|site| site != "cross-site")
}

/// Is this the origin of pages that have been requested under this host?
fn is_own(origin: &HeaderValue, host: Option<&HeaderValue>) -> bool {
    let origin = origin.as_bytes();
    let page_host = origin
        .strip_prefix(b"http://")
        .or_else(|| origin.strip_prefix(b"https://"));
    match (page_host, host) {
        (Some(page_host), Some(host)) => page_host.eq_ignore_ascii_case(host.as_bytes()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(headers: &[(&'static str, &'static str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        let allowed = CorsOrigins::try_from("https://explorer.example.com").unwrap();
        is_from_allowed_page(&map, &allowed)
    }

    #[test]
    fn pages_of_this_server_and_of_allowed_origins_may_ask() {
        for headers in [
            &[][..],
            &[("host", "h")],
            &[("host", "h:80"), ("sec-fetch-site", "same-origin")],
            &[("host", "h:80"), ("sec-fetch-site", "none")],
            &[
                ("host", "localhost:8080"),
                ("origin", "http://localhost:8080"),
            ],
            &[
                ("host", "Localhost:8080"),
                ("origin", "http://localhost:8080"),
            ],
            &[
                ("host", "h.example.com"),
                ("origin", "https://h.example.com"),
            ],
            &[
                ("host", "h"),
                ("origin", "https://explorer.example.com"),
                ("sec-fetch-site", "cross-site"),
            ],
        ] {
            assert!(is_allowed(headers), "{headers:?}");
        }
    }

    #[test]
    fn pages_of_other_servers_may_not() {
        for headers in [
            &[("host", "h"), ("sec-fetch-site", "cross-site")][..],
            &[("host", "h"), ("origin", "http://attacker.example")],
            &[("host", "h"), ("origin", "null")],
            &[("host", "h"), ("origin", "")],
            &[("origin", "http://h")],
            &[
                ("host", "h:1"),
                ("origin", "http://h:2"),
                ("sec-fetch-site", "same-site"),
            ],
            &[
                ("host", "h"),
                ("origin", "http://h"),
                ("origin", "http://x"),
            ],
            &[
                ("host", "explorer.example.com"),
                ("origin", "ftp://explorer.example.com"),
            ],
        ] {
            assert!(!is_allowed(headers), "{headers:?}");
        }
    }
}
