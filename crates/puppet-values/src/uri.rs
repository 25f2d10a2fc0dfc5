//! [`Uri`]: a URI as Ruby's library reads and writes it.

use std::fmt;
use std::net::Ipv6Addr;

use crate::hash::Hash;
use crate::value::Value;

/// A URI by its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uri {
    /// The scheme.
    pub scheme: Option<String>,
    /// The userinfo.
    pub userinfo: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The port.
    pub port: Option<u64>,
    /// The path.
    pub path: Option<String>,
    /// The query.
    pub query: Option<String>,
    /// The fragment.
    pub fragment: Option<String>,
    /// The opaque.
    pub opaque: Option<String>,
}

impl Uri {
    /// Reads a URI or a reference relative to one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("bad URI(is not URI?): {text:?}");
        if !text.is_ascii() {
            return Err(format!("URI must be ascii only {text:?}"));
        }
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        if !fragment.is_none_or(|fragment| is_made_of(fragment, "!$&'()*+,-./:;=@_~?")) {
            return Err(bad());
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
                uri.read_authority(authority).ok_or_else(bad)?;
                path
            }
            None => rest,
        };
        if !is_made_of(path, "!$&'()*+,-./:;=@_~") {
            return Err(bad());
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
            return Err(bad());
        } else {
            uri.path = Some(path.to_owned());
        }
        uri.complete()
    }

    /// A URI of parts, as `URI` takes them in a hash.
    pub fn build(parts: &Hash) -> Result<Self, String> {
        let text = |name: &str| parts.get(name).and_then(Value::as_str).map(str::to_owned);
        let uri = Uri {
            scheme: text("scheme").map(|scheme| scheme.to_ascii_lowercase()),
            userinfo: text("userinfo"),
            host: text("host"),
            port: match parts.get("port") {
                Some(Value::Int(port)) => u64::try_from(*port).ok(),
                _ => None,
            },
            path: text("path"),
            query: text("query").as_deref().map(escape_query),
            fragment: text("fragment"),
            opaque: text("opaque"),
        };
        uri.check_parts()?;
        uri.complete()
    }

    fn check_parts(&self) -> Result<(), String> {
        let check = |name: &str, part: &Option<String>, is_good: &dyn Fn(&str) -> bool| match part {
            Some(text) if !is_good(text) => Err(format!(
                "bad component(expected {name} component): {text:?}"
            )),
            _ => Ok(()),
        };
        if self.opaque.is_some() && (self.host.is_some() || self.path.is_some()) {
            return Err("can not set opaque with host, port, userinfo or path".to_owned());
        }
        if self.userinfo.is_some() && self.host.is_none() {
            return Err("can not set user with registry or opaque".to_owned());
        }
        check("scheme", &self.scheme, &is_scheme)?;
        check("host", &self.host, &is_host)?;
        check("path", &self.path, &|path| {
            let is_absolute = path.starts_with('/');
            is_made_of(path, "!$&'()*+,-./:;=@_~") && (is_absolute || self.scheme.is_none())
        })
    }

    /// Fills in what a scheme adds.
    fn complete(mut self) -> Result<Self, String> {
        match self.scheme.as_deref() {
            Some("file") => {
                if self.host.as_deref().is_none_or(|host| host == "localhost") {
                    self.host = Some(String::new());
                }
                (self.port, self.userinfo) = (None, None);
            }
            Some("ldap" | "ldaps") if self.path.is_none() => {
                return Err("bad LDAP URL".to_owned());
            }
            Some("ftp") => {
                // A path is relative to where the server starts; `%2F` leads to its root.
                let path = self.path.as_deref().ok_or("URI::InvalidURIError")?;
                let path = path.strip_prefix('/').unwrap_or(path);
                self.path = Some(match path.strip_prefix('/') {
                    Some(path) => format!("/%2F{path}"),
                    None => format!("/{path}"),
                });
            }
            Some("mailto") => {
                if let (None, Some(query)) = (&self.opaque, self.query.take()) {
                    self.opaque = Some(format!("?{query}"));
                }
                let opaque = self.opaque.as_deref();
                let opaque = opaque.ok_or("missing opaque part for mailto URL")?;
                if !opaque.split('?').next().is_none_or(is_address_list) {
                    return Err(format!("unrecognised opaque part for mailtoURL: {opaque}"));
                }
            }
            _ => {}
        }
        if self.path.is_none() && self.opaque.is_none() {
            self.path = Some(String::new());
        }
        self.port = self.port.or(self.default_port());
        Ok(self)
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

    fn default_port(&self) -> Option<u64> {
        Some(match self.scheme.as_deref()? {
            "http" | "ws" => 80,
            "https" => 443,
            "ftp" => 21,
            "ldap" => 389,
            "ldaps" => 636,
            _ => return None,
        })
    }

    /// The server that is asked and what it is asked for, as Ruby's library sends it; `None` where the URI is not one
    /// of HTTP.
    pub fn request(&self) -> Option<(String, String)> {
        let scheme = self.scheme.as_deref()?;
        if !matches!(scheme, "http" | "https") {
            return None;
        }
        let host = self.host.as_deref().filter(|host| !host.is_empty())?;
        let userinfo = self.userinfo.as_ref();
        let user = userinfo.map(|user| format!("{user}@")).unwrap_or_default();
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        let path = self.path.as_deref().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        let query = self.query.as_ref();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Some((
            format!("{scheme}://{user}{host}{port}"),
            format!("{slash}{path}{query}"),
        ))
    }

    /// A part by its name.
    pub fn part(&self, name: &str) -> Value {
        let text = match name {
            "scheme" => &self.scheme,
            "userinfo" => &self.userinfo,
            "host" => &self.host,
            "path" => &self.path,
            "query" => &self.query,
            "fragment" => &self.fragment,
            "opaque" => &self.opaque,
            "port" => {
                let port = self.port.and_then(|port| i64::try_from(port).ok());
                return port.map_or(Value::Null, Value::Int);
            }
            _ => &None,
        };
        text.as_ref().map_or(Value::Null, Value::str)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(opaque) = &self.opaque {
            f.write_str(opaque)?;
        } else {
            if self.host.is_some() || matches!(self.scheme.as_deref(), Some("file" | "postgres")) {
                f.write_str("//")?;
            }
            if let Some(userinfo) = &self.userinfo {
                write!(f, "{userinfo}@")?;
            }
            f.write_str(self.host.as_deref().unwrap_or_default())?;
            if let Some(port) = self.port.filter(|port| Some(*port) != self.default_port()) {
                write!(f, ":{port}")?;
            }
            f.write_str(self.path.as_deref().unwrap_or_default())?;
            if let Some(query) = &self.query {
                write!(f, "?{query}")?;
            }
        }
        match &self.fragment {
            Some(fragment) => write!(f, "#{fragment}"),
            None => Ok(()),
        }
    }
}

/// `a@b,c@d;`
fn is_address_list(text: &str) -> bool {
    let text = text.strip_suffix([',', ';']).unwrap_or(text);
    text.is_empty()
        || text.split([',', ';']).all(|address| {
            address.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && !host.is_empty() && !host.contains('@')
            })
        })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
}

fn is_host(host: &str) -> bool {
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

/// Letters, digits, `%XX` and these characters.
fn is_made_of(text: &str, others: &str) -> bool {
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

/// Ruby escapes in a query what should not stand there.
fn escape_query(query: &str) -> String {
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
