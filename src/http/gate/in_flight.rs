//! [`InFlight`]: what all requests together may hold at a time. Excess is refused with 503 at once.

use std::sync::Arc;
use std::time::Duration;

use super::client_quota::{Client, ClientQuota, ClientShare};
use super::quota::Quota;
use crate::config::ConnectionSettings;
use crate::http::App;
use crate::http::error::ApiError;
use crate::metrics::{Load, Refusal};

/// What is in flight, with its limits.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(in crate::http) connections: Arc<ClientQuota>,
    /// A client has at most one for each of its connections, so they need no limit for each client.
    pub(super) requests: Quota,
    pub(super) body_bytes: Arc<ClientQuota>,
    pub(super) answer_bytes: Arc<ClientQuota>,
    pub(super) event_streams: Arc<ClientQuota>,
    pub(super) event_stream_max_age: Duration,
}

impl InFlight {
    pub(crate) fn new(settings: &ConnectionSettings) -> Self {
        InFlight {
            connections: ClientQuota::new(
                settings.max_connections,
                settings.max_connections_per_address,
            ),
            requests: Quota::new(settings.max_requests_in_flight),
            body_bytes: ClientQuota::halved(settings.max_body_bytes_in_flight),
            answer_bytes: ClientQuota::halved(settings.max_answer_bytes_in_flight),
            event_streams: ClientQuota::halved(settings.max_event_streams),
            event_stream_max_age: settings.event_stream_max_age(),
        }
    }

    /// What clients occupy at the moment.
    pub(crate) fn load(&self) -> Load {
        Load {
            connections: self.connections.used(),
            requests_in_flight: self.requests.used(),
            event_streams: self.event_streams.used(),
        }
    }
}

/// The bytes of a body that has arrived in part.
#[derive(Debug)]
pub(crate) struct BodyBytes<'a> {
    app: &'a App,
    share: ClientShare,
}

impl<'a> BodyBytes<'a> {
    /// Counts these bytes; an error if there are too many in flight.
    pub(crate) fn count(
        app: &'a App,
        client: Option<Client>,
        bytes: usize,
    ) -> Result<Self, ApiError> {
        let share = app.in_flight.body_bytes.take(client, bytes);
        match share {
            Ok(share) => Ok(BodyBytes { app, share }),
            Err(excess) => Err(app.overloaded(Refusal::BodyBytes, excess)),
        }
    }

    /// Counts more bytes; an error if there are too many in flight.
    pub(crate) fn count_more(&mut self, bytes: usize) -> Result<(), ApiError> {
        let grown = self.share.grow(bytes);
        grown.map_err(|excess| self.app.overloaded(Refusal::BodyBytes, excess))
    }
}
