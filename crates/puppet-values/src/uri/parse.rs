//! Parsing URIs, and the characters that are allowed in their components.

use std::net::Ipv6Addr;

use super::{Uri, UriError};

/// The characters of a path, besides letters and digits.
pub(super) const PATH: &str = "!$&'()*+,-./:;=@_~";

impl Uri {
    /// Parses a URI or a relative reference.
    ///
    /// # Errors
    ///
    /// If Ruby refuses it.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        let invalid = || UriError::NotAUri {
            text: text.to_owned(),
        };
        if !text.is_ascii() {
            return Err(UriError::NotAscii {
                text: text.to_owned(),
            });
        }
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        if !fragment.is_none_or(|fragment| is_made_of(fragment, "!$&'()*+,-./:;=@_~?")) {
            return Err(invalid());
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let mut uri = Uri {
            scheme: scheme.map(str::to_ascii_lowercase),
            query: query.map(escape_query),
            fragment: fragment.map(str::to_owned),
            ..Uri::default()
        };
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
                uri.read_authority(authority).ok_or_else(invalid)?;
                path
            }
            None => rest,
        };
        if !is_made_of(path, PATH) {
            return Err(invalid());
        }
        let is_rootless = !path.is_empty() && !path.starts_with('/');
        if is_rootless && scheme.is_some() {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            uri.opaque = Some(format!("{path}{query}"));
            uri.query = None;
        } else if is_rootless
            && path
                .split('/')
                .next()
                .is_some_and(|part| part.contains(':'))
        {
            return Err(invalid());
        } else {
            uri.path = Some(path.to_owned());
        }
        uri.complete()
    }

    fn read_authority(&mut self, authority: &str) -> Option<()> {
        let host_and_port = match authority.split_once('@') {
            Some((userinfo, rest)) => {
                if !is_made_of(userinfo, "!$&'()*+,-.:;=_~") {
                    return None;
                }
                self.userinfo = Some(userinfo.to_owned()).filter(|userinfo| !userinfo.is_empty());
                rest
            }
            None => authority,
        };
        let end_of_host = host_and_port.rfind(']').map_or(0, |end| end + 1);
        let colon = host_and_port
            .get(end_of_host..)?
            .find(':')
            .map(|colon| colon + end_of_host);
        let (host, port) = match colon {
            Some(colon) => {
                let (host, port) = host_and_port.split_at_checked(colon)?;
                (host, port.strip_prefix(':'))
            }
            None => (host_and_port, None),
        };
        if let Some(port) = port {
            if !port.chars().all(|char| char.is_ascii_digit()) {
                return None;
            }
            self.port = port.parse().ok();
        }
        if !host.is_empty() {
            self.host = Some(host.to_owned());
        }
        is_host(host).then_some(())
    }
}

/// Is it a list of addresses such as `a@b,c@d;`?
pub(super) fn is_address_list(text: &str) -> bool {
    let text = text.strip_suffix([',', ';']).unwrap_or(text);
    text.is_empty()
        || text.split([',', ';']).all(|address| {
            address.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && !host.is_empty() && !host.contains('@')
            })
        })
}

pub(super) fn is_scheme(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
}

pub(super) fn is_host(host: &str) -> bool {
    match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(address) => match address.strip_prefix('v') {
            Some(future) => future.split_once('.').is_some_and(|(version, address)| {
                !version.is_empty()
                    && version.chars().all(|char| char.is_ascii_hexdigit())
                    && !address.is_empty()
                    && is_made_of(address, "!$&'()*+,-.:;=_~")
            }),
            None => address.parse::<Ipv6Addr>().is_ok(),
        },
        None => is_made_of(host, "!$&'()*+,-.;=_~"),
    }
}

/// Does it only consist of letters, digits, `%XX` and these characters?
pub(super) fn is_made_of(text: &str, others: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let char = char::from(byte);
        if char == '%' {
            let is_hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
            if !is_hex(bytes.next()) || !is_hex(bytes.next()) {
                return false;
            }
        } else if !char.is_ascii_alphanumeric() && !others.contains(char) {
            return false;
        }
    }
    true
}

/// Escapes the characters that are not allowed in a query, as Ruby does.
pub(super) fn escape_query(query: &str) -> String {
    let mut escaped = String::new();
    for byte in query.bytes() {
        match byte {
            b'\t' | b'\r' | b'\n' => {}
            b'!' | b'$'..=b'&' | b'('..=b';' | b'=' | b'?'..=b'_' | b'a'..=b'~' => {
                escaped.push(char::from(byte));
            }
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
