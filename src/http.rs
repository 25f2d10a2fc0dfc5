//! The HTTP interface: a request passes the [`gate`](Gate), then the fast path or the router, and leaves as a reply or
//! as an `ApiError`.

mod docs;
mod error;
mod gate;
mod health;
mod lookup;
mod refused_head;
mod request_body;
mod router;
mod views;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use self::gate::Gate;
pub(crate) use self::gate::{Client, ClientQuota, ClientShare, Excess, describe_excess};
#[cfg(feature = "fuzzing")]
pub use self::lookup::fuzzing;
pub(crate) use self::refused_head::{HeadFault, RefusedHead};
pub use self::router::{Route, routes};

use self::gate::{Everyone, Hosts, InFlight};
use crate::backends::hiera_http::RemoteClient;
use crate::compute::Compute;
use crate::config::{AllowedHosts, ConnectionSettings, CorsOrigins, Limits, RemoteSettings};
use crate::environments::Environments;
use crate::metrics::Metrics;
use crate::reload::Reloader;

/// Every kind of problem document: the end of its `type`, and its status.
pub fn problem_kinds() -> impl Iterator<Item = (&'static str, u16)> {
    let kinds = error::ErrorKind::ALL.iter();
    kinds.map(|kind| (kind.name(), kind.status().as_u16()))
}

/// What handlers share. Clones are the same.
#[derive(Clone, Debug)]
pub struct App {
    shared: Arc<Shared>,
}

/// Behind one pointer, since every request takes a clone.
#[derive(Clone, Debug)]
pub struct Shared {
    environments: Environments,
    metrics: Arc<Metrics>,
    limits: Arc<Limits>,
    in_flight: Arc<InFlight>,
    max_head_size: usize,
    /// The names by which clients may address the server; any if there is none.
    hosts: Option<Arc<Hosts>>,
    is_draining: Arc<AtomicBool>,
    remotes: RemoteClient,
    /// For lookups that take long.
    compute: Compute<Option<Client>>,
    /// Where there is one, data can be reloaded on demand.
    reloader: Option<Reloader>,
    cors_origins: CorsOrigins,
    has_access_log: bool,
}

impl App {
    /// An application that serves these environments.
    pub fn new(environments: Environments, limits: Limits) -> Self {
        let shared = Shared {
            environments,
            metrics: Metrics::new(),
            compute: Compute::new(limits.max_waiting),
            limits: Arc::new(limits),
            in_flight: Arc::new(InFlight::new(&ConnectionSettings::default())),
            max_head_size: ConnectionSettings::default().head_size(),
            hosts: None,
            is_draining: Arc::default(),
            remotes: RemoteClient::new(&RemoteSettings::default()),
            reloader: None,
            cors_origins: CorsOrigins::default(),
            has_access_log: false,
        };
        App {
            shared: Arc::new(shared),
        }
    }

    /// The same with other limits on what all requests together may hold.
    pub fn with_connections(mut self, settings: &ConnectionSettings) -> Self {
        let shared = self.edit();
        shared.in_flight = Arc::new(InFlight::new(settings));
        shared.max_head_size = settings.head_size();
        self
    }

    /// The same with other bounds on what is asked of other servers and kept of it.
    pub fn with_remotes(mut self, settings: &RemoteSettings) -> Self {
        self.edit().remotes = RemoteClient::new(settings);
        self
    }

    /// The same with web pages of these origins allowed to send requests.
    pub fn with_cors_origins(mut self, origins: &CorsOrigins) -> Self {
        self.edit().cors_origins = origins.clone();
        self
    }

    /// The same for a listener: which names clients may use depends on its address, as it is set and as it is.
    pub(crate) fn with_listener(
        mut self,
        setting: &str,
        address: SocketAddr,
        allowed: &AllowedHosts,
    ) -> Self {
        self.edit().hosts = Hosts::for_listener(setting, address, allowed).map(Arc::new);
        self
    }

    /// The same with or without a log line for each request.
    pub fn with_access_log(mut self, is_wanted: bool) -> Self {
        self.edit().has_access_log = is_wanted;
        self
    }

    /// The same with data that can be reloaded on demand.
    pub(crate) fn with_reloader(mut self, reloader: Reloader) -> Self {
        self.edit().reloader = Some(reloader);
        self
    }

    /// How many connections are open, and may be.
    pub(crate) fn connections(&self) -> &Arc<ClientQuota> {
        &self.in_flight.connections
    }

    fn edit(&mut self) -> &mut Shared {
        Arc::make_mut(&mut self.shared)
    }

    /// From now on `/readyz` answers 503, so that load balancers send nothing new.
    pub fn start_draining(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.environments.close_subscriptions();
    }

    /// The whole interface: every request enters by the gate.
    pub fn service(self) -> Gate {
        Gate::new(self, Everyone)
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}
