//! [`Uri`]: a URI as Ruby's standard library reads and writes it.

mod parse;

use std::fmt;

use crate::hash::Hash;
use crate::value::Value;
use parse::{PATH, escape_query, is_address_list, is_host, is_made_of, is_scheme};

/// The components of a URI.
///
/// ```
/// use puppet_values::uri::Uri;
///
/// let uri = Uri::parse("HTTPS://user@example.com/a?b=c")?;
/// assert_eq!(uri.host.as_deref(), Some("example.com"));
/// assert_eq!(uri.port, Some(443));
/// assert_eq!(uri.to_string(), "https://user@example.com/a?b=c");
/// # Ok::<(), puppet_values::uri::UriError>(())
/// ```
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
    /// What follows the scheme, if that is not a hierarchy: the address of `mailto:`.
    pub opaque: Option<String>,
}

/// Why a URI is refused, with Ruby's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// It is not a URI.
    #[error("bad URI(is not URI?): {text:?}")]
    NotAUri {
        /// The string.
        text: String,
    },
    /// It has characters beyond ASCII.
    #[error("URI must be ascii only {text:?}")]
    NotAscii {
        /// The string.
        text: String,
    },
    /// A component has characters that are not allowed there.
    #[error("bad component(expected {name} component): {text:?}")]
    Component {
        /// The component.
        name: &'static str,
        /// Its content.
        text: String,
    },
    /// An opaque part with a host or a path.
    #[error("can not set opaque with host, port, userinfo or path")]
    OpaqueWithHierarchy,
    /// A userinfo without a host.
    #[error("can not set user with registry or opaque")]
    UserWithoutHost,
    /// An LDAP URL without a path.
    #[error("bad LDAP URL")]
    LdapWithoutPath,
    /// An FTP URL without a path.
    #[error("URI::InvalidURIError")]
    FtpWithoutPath,
    /// A `mailto` URL without an address.
    #[error("missing opaque part for mailto URL")]
    MailtoWithoutAddress,
    /// A `mailto` URL with something other than addresses.
    #[error("unrecognised opaque part for mailtoURL: {opaque}")]
    MailtoAddress {
        /// What follows the scheme.
        opaque: String,
    },
}

impl Uri {
    /// Builds a URI from a hash of components, as Puppet's `URI` type does.
    ///
    /// # Errors
    ///
    /// If Ruby refuses a component, or the combination.
    pub fn build(parts: &Hash) -> Result<Self, UriError> {
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

    fn check_parts(&self) -> Result<(), UriError> {
        let check = |name, part: &Option<String>, is_valid: &dyn Fn(&str) -> bool| match part {
            Some(text) if !is_valid(text) => Err(UriError::Component {
                name,
                text: text.clone(),
            }),
            _ => Ok(()),
        };
        if self.opaque.is_some() && (self.host.is_some() || self.path.is_some()) {
            return Err(UriError::OpaqueWithHierarchy);
        }
        if self.userinfo.is_some() && self.host.is_none() {
            return Err(UriError::UserWithoutHost);
        }
        check("scheme", &self.scheme, &is_scheme)?;
        check("host", &self.host, &is_host)?;
        check("path", &self.path, &|path| {
            let is_absolute = path.starts_with('/');
            is_made_of(path, PATH) && (is_absolute || self.scheme.is_none())
        })
    }

    /// Applies the rules of the scheme.
    fn complete(mut self) -> Result<Self, UriError> {
        match self.scheme.as_deref() {
            Some("file") => {
                if self.host.as_deref().is_none_or(|host| host == "localhost") {
                    self.host = Some(String::new());
                }
                (self.port, self.userinfo) = (None, None);
            }
            Some("ldap" | "ldaps") if self.path.is_none() => {
                return Err(UriError::LdapWithoutPath);
            }
            Some("ftp") => {
                // A path is relative to the user's directory; `%2F` is the root.
                let path = self.path.as_deref().ok_or(UriError::FtpWithoutPath)?;
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
                let opaque = opaque.ok_or(UriError::MailtoWithoutAddress)?;
                if !opaque.split('?').next().is_none_or(is_address_list) {
                    return Err(UriError::MailtoAddress {
                        opaque: opaque.to_owned(),
                    });
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

    /// The server and the request target, as Ruby's HTTP library uses them; `None` if it is not an HTTP URL.
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

    /// A component by its name; null if it is not set.
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
