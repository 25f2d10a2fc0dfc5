//! [`ClientQuota`]: an amount that all clients share, of which one client can only take a part.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::quota::Quota;

/// Who holds something: an address, or a network of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(IpAddr);

impl From<IpAddr> for Client {
    /// With IPv6, everyone has a network of 64 bits.
    fn from(address: IpAddr) -> Self {
        Client(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from(network))
            }
        })
    }
}

/// An amount that all clients share.
#[derive(Debug)]
pub(crate) struct ClientQuota {
    all: Quota,
    max_per_client: usize,
    by_client: Mutex<HashMap<Client, usize>>,
}

/// What one client has taken, returned when the value is dropped.
#[derive(Debug)]
pub(crate) struct ClientShare {
    quota: Arc<ClientQuota>,
    /// Requests without a connection have no client.
    client: Option<Client>,
    amount: usize,
}

/// Why something did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// All clients together have reached this limit.
    OfAll(usize),
    /// The client has reached this limit.
    OfClient(usize),
}

impl ClientQuota {
    pub(super) fn new(limit: usize, max_per_client: usize) -> Arc<Self> {
        Arc::new(ClientQuota {
            all: Quota::new(limit),
            max_per_client,
            by_client: Mutex::default(),
        })
    }

    /// A quota of which one client can take half.
    pub(super) fn halved(limit: usize) -> Arc<Self> {
        ClientQuota::new(limit, limit / 2)
    }

    pub(super) fn used(&self) -> usize {
        self.all.used()
    }

    /// Takes an amount, unless it exceeds a limit.
    pub(crate) fn take(
        self: &Arc<Self>,
        client: Option<Client>,
        amount: usize,
    ) -> Result<ClientShare, Excess> {
        let mut share = ClientShare {
            quota: self.clone(),
            client,
            amount: 0,
        };
        share.grow(amount)?;
        Ok(share)
    }

    fn by_client(&self) -> MutexGuard<'_, HashMap<Client, usize>> {
        self.by_client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientShare {
    /// Takes more, unless it exceeds a limit.
    pub(crate) fn grow(&mut self, amount: usize) -> Result<(), Excess> {
        let quota = &*self.quota;
        let mut by_client = quota.by_client();
        let count = self.client.and_then(|client| by_client.get(&client));
        let count = count.copied().unwrap_or(0).saturating_add(amount);
        // Alone, any amount fits: it would never fit later either.
        if count > quota.max_per_client && quota.used() > 0 {
            return Err(Excess::OfClient(quota.max_per_client));
        }
        if !quota.all.take(amount) {
            return Err(Excess::OfAll(quota.all.limit()));
        }
        if let Some(client) = self.client {
            by_client.insert(client, count);
        }
        self.amount += amount;
        Ok(())
    }
}

impl Drop for ClientShare {
    fn drop(&mut self) {
        let mut by_client = self.quota.by_client();
        if let Some(client) = self.client
            && let Some(count) = by_client.get_mut(&client)
        {
            *count = count.saturating_sub(self.amount);
            // The table must not grow with every address that has ever connected.
            if *count == 0 {
                by_client.remove(&client);
            }
        }
        self.quota.all.give_back(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(quota: &Arc<ClientQuota>, address: &str, amount: usize) -> Result<ClientShare, Excess> {
        let address: IpAddr = address.parse().unwrap();
        quota.take(Some(address.into()), amount)
    }

    #[test]
    fn a_client_has_a_limit_of_its_own() {
        let quota = ClientQuota::new(4, 2);
        let one = take(&quota, "10.0.0.1", 1).unwrap();
        let _two = take(&quota, "::ffff:10.0.0.1", 1).unwrap();
        let refused = take(&quota, "10.0.0.1", 1).unwrap_err();
        assert_eq!(refused, Excess::OfClient(2));
        let mut other = take(&quota, "10.0.0.2", 1).unwrap();
        drop(one);
        let _again = take(&quota, "10.0.0.1", 1).unwrap();
        other.grow(1).unwrap();
        assert_eq!(other.grow(1), Err(Excess::OfClient(2)));
        let refused = take(&quota, "10.0.0.3", 1).unwrap_err();
        assert_eq!(refused, Excess::OfAll(4));
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let quota = ClientQuota::new(4, 1);
        let _one = take(&quota, "fd00::1", 1).unwrap();
        assert!(take(&quota, "fd00::2:3:4:5", 1).is_err());
        assert!(take(&quota, "fd00:0:0:1::1", 1).is_ok());
    }

    #[test]
    fn a_share_larger_than_the_limit_fits_alone() {
        let quota = ClientQuota::halved(10);
        let large = take(&quota, "10.0.0.1", 100).unwrap();
        assert!(take(&quota, "10.0.0.2", 1).is_err());
        drop(large);
        let _small = take(&quota, "10.0.0.2", 1).unwrap();
        assert_eq!(
            take(&quota, "10.0.0.1", 6).unwrap_err(),
            Excess::OfClient(5)
        );
        assert!(take(&quota, "10.0.0.1", 5).is_ok());
    }

    #[test]
    fn what_is_returned_leaves_nothing_behind() {
        let quota = ClientQuota::new(4, 4);
        let shares = [(); 3].map(|()| take(&quota, "10.0.0.1", 1).unwrap());
        assert_eq!((quota.by_client().len(), quota.used()), (1, 3));
        drop(shares);
        assert_eq!((quota.by_client().len(), quota.used()), (0, 0));
        // Without a client, only all of them count.
        let _share = quota.take(None, 4).unwrap();
        assert_eq!(quota.take(None, 1).unwrap_err(), Excess::OfAll(4));
    }
}
