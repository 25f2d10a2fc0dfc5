//! [`AllowedHosts`]: further names by which clients may address the server.

use serde::Deserialize;

/// Names such as `hierad.example.com`, or `*.example.com` for every name below a domain.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(try_from = "Vec<String>")]
pub struct AllowedHosts {
    // Invariant: each is the name of a host or an address in lower case, without a port; or a domain after `*.`.
    names: Vec<String>,
}

/// A text that is not the name of a host.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` is not a host; expected a name or an address without a port, such as `hierad.example.com` or `*.example.com`"
)]
pub struct AllowedHostError {
    text: String,
}

impl AllowedHosts {
    /// Are there no further names?
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Is this name allowed, whatever the case of its letters?
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| match known.strip_prefix('*') {
                None => known.eq_ignore_ascii_case(name),
                Some(domain) => is_below(name, domain),
            })
    }
}

/// Is this a name below a domain, which is given with its first dot?
pub(crate) fn is_below(name: &str, domain: &str) -> bool {
    let start = name.len().checked_sub(domain.len());
    let (label, end) = match start.and_then(|start| name.split_at_checked(start)) {
        Some(parts) => parts,
        None => return false,
    };
    !label.is_empty() && end.eq_ignore_ascii_case(domain)
}

impl TryFrom<Vec<String>> for AllowedHosts {
    type Error = AllowedHostError;

    fn try_from(texts: Vec<String>) -> Result<Self, AllowedHostError> {
        let names = texts.into_iter().map(|text| match is_host(&text) {
            true => Ok(text.to_ascii_lowercase()),
            false => Err(AllowedHostError { text }),
        });
        Ok(AllowedHosts {
            names: names.collect::<Result<_, _>>()?,
        })
    }
}

/// From a variable: names separated by commas.
impl TryFrom<&str> for AllowedHosts {
    type Error = AllowedHostError;

    fn try_from(text: &str) -> Result<Self, AllowedHostError> {
        AllowedHosts::try_from(super::variables::split_list(text))
    }
}

/// `*` alone is rejected: it would open the server to every page whose name leads to this machine.
fn is_host(text: &str) -> bool {
    if text.parse::<std::net::IpAddr>().is_ok() {
        return true;
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_domains_and_addresses_are_allowed() {
        let hosts = AllowedHosts::try_from("Hierad.example.com, *.lan,10.0.0.1,fd00::1,").unwrap();
        for name in [
            "hierad.example.com",
            "HIERAD.EXAMPLE.COM",
            "a.lan",
            "a.b.LAN",
            "10.0.0.1",
            "fd00::1",
        ] {
            assert!(hosts.contains(name), "{name}");
        }
        for name in [
            "example.com",
            "lan",
            ".lan",
            "alan",
            "10.0.0.2",
            "",
            "ä.lan.x",
        ] {
            assert!(!hosts.contains(name), "{name}");
        }
        assert!(AllowedHosts::try_from("").unwrap().is_empty());
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "*", "a:80", "http://a", "a/b", "a b", "*.", "a.*.b", "[::1]",
        ] {
            let error = AllowedHosts::try_from(vec![text.to_owned()]).unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
