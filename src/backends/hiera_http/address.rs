//! The URI of a document as a level gives it → the URI to request, and the one to display.

use hiera_resolver::remote::without_user;
use hyper::Uri;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters that RFC 3986 does not allow in a URI. `%` is allowed: what follows it is encoded already.
const NOT_IN_URIS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The URI to request. User and password in a URI are ignored, as in lookup_http.
pub(super) fn parse(uri: &str, uses_ssl: bool) -> Option<Uri> {
    let uri: Uri = encode(uri).parse().ok()?;
    let (is_https, default_port) = match uri.scheme_str()? {
        "http" => (false, 80),
        "https" => (true, 443),
        _ => return None,
    };
    // Puppet: lookup_http only looks at `use_ssl`; without it, it speaks plain HTTP to the port of https, which is
    // never useful. The default port follows the scheme as written.
    let scheme = if is_https || uses_ssl {
        "https"
    } else {
        "http"
    };
    let host = uri.host().filter(|host| !host.is_empty())?;
    let server = uri.authority()?.as_str().rsplit('@').next()?;
    let port = match server.strip_prefix(host)? {
        "" | ":" => default_port,
        port => port.strip_prefix(':')?.parse::<u16>().ok()?,
    };
    Uri::builder()
        .scheme(scheme)
        .authority(format!("{host}:{port}"))
        .path_and_query(uri.path_and_query().map_or("/", |path| path.as_str()))
        .build()
        .ok()
}

/// The URI to display: without user and password, on one line.
pub(super) fn displayed(uri: &str) -> String {
    without_user(&encode(uri))
}

fn encode(uri: &str) -> String {
    utf8_percent_encode(uri, NOT_IN_URIS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_keeps_everything_but_its_user() {
        for (uri, uses_ssl, expected) in [
            ("http://host/a?b=c#d", false, "http://host:80/a?b=c"),
            ("http://me:secret@host:81", false, "http://host:81/"),
            ("https://host/a%20b c", false, "https://host:443/a%20b%20c"),
            ("http://host/ü{|}", false, "http://host:80/%C3%BC%7B%7C%7D"),
            ("http://[::1]:8/", false, "http://[::1]:8/"),
            ("http://host/", true, "https://host:80/"),
            ("HTTP://host/", false, "http://host:80/"),
        ] {
            assert_eq!(parse(uri, uses_ssl).unwrap().to_string(), expected);
        }
        for uri in [
            "",
            "host",
            "/path",
            "ftp://host/",
            "http://",
            "http://a b/",
            "http:///x",
            "http://h:99999/",
        ] {
            assert_eq!(parse(uri, false), None, "{uri}");
        }
    }

    #[test]
    fn a_uri_is_displayed_without_its_user_on_one_line() {
        for (uri, expected) in [
            ("http://me:se cret@host:81/a", "http://host:81/a"),
            ("http://host/a\nb", "http://host/a%0Ab"),
        ] {
            assert_eq!(displayed(uri), expected);
        }
    }
}
