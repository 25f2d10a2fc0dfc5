//! [`InFlight`]: what all requests together may hold at a time. Excess is refused with 503 at once.

use std::sync::Arc;
use std::time::Duration;

use super::quota::{Quota, Share};
use crate::config::ConnectionSettings;
use crate::http::App;
use crate::http::error::ApiError;
use crate::metrics::{Load, Refusal};

/// What is in flight, with its limits.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(in crate::http) connections: Arc<Quota>,
    pub(super) requests: Quota,
    pub(super) body_bytes: Quota,
    pub(super) answer_bytes: Arc<Quota>,
    pub(super) event_streams: Arc<Quota>,
    pub(super) event_stream_max_age: Duration,
}

impl InFlight {
    pub(crate) fn new(settings: &ConnectionSettings) -> Self {
        InFlight {
            connections: Arc::new(Quota::new(settings.max_connections)),
            requests: Quota::new(settings.max_requests_in_flight),
            body_bytes: Quota::new(settings.max_body_bytes_in_flight),
            answer_bytes: Arc::new(Quota::new(settings.max_answer_bytes_in_flight)),
            event_streams: Arc::new(Quota::new(settings.max_event_streams)),
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

impl App {
    /// Takes a share for the bytes of a body that has arrived in part.
    pub(crate) fn take_body_bytes(&self, count: usize) -> Result<Share<&Quota>, ApiError> {
        let share = Share::take(&self.in_flight.body_bytes, count);
        share.ok_or_else(|| self.too_many_body_bytes())
    }

    /// The error for a body that no longer fits.
    pub(crate) fn too_many_body_bytes(&self) -> ApiError {
        self.overloaded(Refusal::BodyBytes, self.in_flight.body_bytes.limit())
    }
}
