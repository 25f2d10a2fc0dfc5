//! [`Hosts`]: the names by which clients may address the server.
//!
//! A web page whose name leads to this machine (DNS rebinding) counts as a page of this server for the browser that shows
//! it, and could read every answer. Its requests name its own host, so they are recognized by that.

use std::net::{IpAddr, SocketAddr};

use crate::config::{AllowedHosts, is_below};

/// The names by which clients may address the server.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// The host of the address to listen on, as it is set, and the name of this machine.
    own_names: Vec<String>,
    allowed: AllowedHosts,
    /// Requests to any address pass. No page can have another server's address as its name.
    takes_addresses: bool,
}

impl Hosts {
    /// The names for a listener; `None` if requests may use any name.
    pub(crate) fn for_listener(
        setting: &str,
        address: SocketAddr,
        allowed: &AllowedHosts,
    ) -> Option<Self> {
        if !is_restricted(address.ip(), allowed) {
            return None;
        }
        let machine = rustix::system::uname();
        let machine = machine.nodename().to_string_lossy();
        let short = machine.split('.').next().unwrap_or_default();
        let listen = setting.rsplit_once(':').map_or(setting, |(host, _)| host);
        let own_names = [listen, &*machine, short];
        Some(Hosts {
            own_names: own_names.map(str::to_owned).into(),
            allowed: allowed.clone(),
            takes_addresses: !address.ip().to_canonical().is_loopback(),
        })
    }

    /// May a request have this in its `Host`?
    pub(super) fn allow(&self, host: &str) -> bool {
        let name = without_port(host);
        if let Ok(address) = name.parse::<IpAddr>() {
            return self.takes_addresses
                || address.to_canonical().is_loopback()
                || self.allowed.contains(name);
        }
        // The dot at the end of a full name is optional.
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_own = |own: &String| !own.is_empty() && own.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost")
            || is_below(name, ".localhost")
            || self.own_names.iter().any(is_own)
            || self.allowed.contains(name)
    }
}

/// Must requests name this server?
///
/// There is no authentication, so a browser on this machine could ask anything for any page. Where other machines can
/// connect, their names for this server are unknown unless they are set.
fn is_restricted(address: IpAddr, allowed: &AllowedHosts) -> bool {
    address.to_canonical().is_loopback() || !allowed.is_empty()
}

/// The host of `HOST:PORT`; of an IPv6 address, what is in the brackets.
fn without_port(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listen: &str, allowed: &str) -> Option<Hosts> {
        let address = listen.replace("localhost", "127.0.0.1").parse().unwrap();
        let allowed = AllowedHosts::try_from(allowed).unwrap();
        Hosts::for_listener(listen, address, &allowed)
    }

    #[test]
    fn on_loopback_only_names_of_this_machine_pass() {
        let hosts = hosts("127.0.0.1:8080", "").unwrap();
        let machine = rustix::system::uname();
        let machine = machine.nodename().to_str().unwrap();
        for host in [
            "localhost",
            "localhost:8080",
            "LocalHost:1",
            "localhost.",
            "hierad.localhost:8080",
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.3.2.1:8080",
            "[::1]:8080",
            "[::1]",
            machine,
            &format!("{machine}:8080"),
        ] {
            assert!(hosts.allow(host), "{host}");
        }
        for host in [
            "attacker.example",
            "attacker.example:8080",
            "localhost.attacker.example",
            "notlocalhost",
            "127.0.0.1.attacker.example",
            "10.0.0.1",
            "0.0.0.0:8080",
            "[fd00::1]:8080",
            "",
            ":8080",
            "localhost:8080:8080",
            "localhost:http",
        ] {
            assert!(!hosts.allow(host), "{host}");
        }
    }

    #[test]
    fn further_names_can_be_allowed() {
        let hosts = hosts("localhost:8080", "hierad.example.com,10.0.0.1").unwrap();
        for host in ["hierad.example.com", "hierad.example.com:80", "10.0.0.1:80"] {
            assert!(hosts.allow(host), "{host}");
        }
        assert!(!hosts.allow("other.example.com"));
    }

    #[test]
    fn elsewhere_any_name_passes_unless_names_are_set() {
        assert!(hosts("0.0.0.0:8080", "").is_none());
        let hosts = hosts("0.0.0.0:8080", "hierad.example.com").unwrap();
        // Orchestrators check the health of a container by its address.
        for host in [
            "hierad.example.com",
            "10.1.2.3:8080",
            "localhost",
            "[fd00::1]:80",
        ] {
            assert!(hosts.allow(host), "{host}");
        }
        assert!(!hosts.allow("attacker.example"));
    }
}
