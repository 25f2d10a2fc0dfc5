//! [`Connections`]: how many connections are open, in all and from each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::ConnectionSettings;
use crate::http::{App, Quota, Share};
use crate::metrics::Refusal;

/// The open connections. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    all: Arc<Quota>,
    by_client: Arc<Mutex<HashMap<IpAddr, usize>>>,
    max_per_client: usize,
}

/// An open connection. It no longer counts when the value is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    client: IpAddr,
    connections: Connections,
    _share: Share<Arc<Quota>>,
}

/// A connection that exceeds a limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) reason: Refusal,
    pub(super) limit: usize,
}

impl Connections {
    pub(super) fn new(app: &App, settings: &ConnectionSettings) -> Self {
        Connections {
            all: app.connections().clone(),
            by_client: Arc::default(),
            max_per_client: settings.max_connections_per_address,
        }
    }

    /// Counts a connection, unless there are too many.
    pub(super) fn open(&self, address: IpAddr) -> Result<OpenConnection, Excess> {
        let client = client_of(address);
        let mut by_client = self.by_client();
        let count = by_client.get(&client).copied().unwrap_or(0);
        if count >= self.max_per_client {
            return Err(Excess {
                reason: Refusal::ConnectionsPerAddress,
                limit: self.max_per_client,
            });
        }
        let share = Share::take(self.all.clone(), 1).ok_or_else(|| Excess {
            reason: Refusal::Connections,
            limit: self.all.limit(),
        })?;
        by_client.insert(client, count + 1);
        Ok(OpenConnection {
            client,
            connections: self.clone(),
            _share: share,
        })
    }

    fn by_client(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.by_client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut by_client = self.connections.by_client();
        match by_client.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            // The table must not grow with every address that has ever connected.
            _ => _ = by_client.remove(&self.client),
        }
    }
}

/// What counts as one client. With IPv6, everyone has a network of 64 bits.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::environments::Environments;

    fn connections(max_connections: usize, max_connections_per_address: usize) -> Connections {
        let settings = ConnectionSettings {
            max_connections,
            max_connections_per_address,
            ..ConnectionSettings::default()
        };
        let app = App::new(Environments::new(), Limits::default()).with_connections(&settings);
        Connections::new(&app, &settings)
    }

    fn open(connections: &Connections, address: &str) -> Result<OpenConnection, Refusal> {
        let opened = connections.open(address.parse().unwrap());
        opened.map_err(|excess| excess.reason)
    }

    #[test]
    fn an_address_has_a_limit_of_its_own() {
        let connections = connections(4, 2);
        let one = open(&connections, "10.0.0.1").unwrap();
        let _two = open(&connections, "::ffff:10.0.0.1").unwrap();
        let refused = open(&connections, "10.0.0.1").unwrap_err();
        assert_eq!(refused, Refusal::ConnectionsPerAddress);
        let _other = open(&connections, "10.0.0.2").unwrap();
        drop(one);
        let _again = open(&connections, "10.0.0.1").unwrap();
        let _last = open(&connections, "10.0.0.3").unwrap();
        let refused = open(&connections, "10.0.0.4").unwrap_err();
        assert_eq!(refused, Refusal::Connections);
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let connections = connections(4, 1);
        let _one = open(&connections, "fd00::1").unwrap();
        assert!(open(&connections, "fd00::2:3:4:5").is_err());
        assert!(open(&connections, "fd00:0:0:1::1").is_ok());
    }

    #[test]
    fn closed_connections_leave_nothing_behind() {
        let connections = connections(4, 4);
        let opened = [(); 3].map(|()| open(&connections, "10.0.0.1").unwrap());
        assert_eq!(connections.by_client().len(), 1);
        drop(opened);
        assert_eq!(
            (connections.by_client().len(), connections.all.used()),
            (0, 0)
        );
    }
}
