//! Metrics of requests to other servers.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Labels;
use crate::backends::hiera_http::RemoteStats;

/// The metrics, set when they are shown.
#[derive(Debug)]
pub(super) struct RemoteMetrics {
    answered: Counter<u64, AtomicU64>,
    failed: Counter<u64, AtomicU64>,
    refused: Counter<u64, AtomicU64>,
    opened: Counter<u64, AtomicU64>,
    circuits: Family<[(&'static str, String); 1], Gauge>,
}

impl RemoteMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let requests = Family::<Labels, Counter<u64, AtomicU64>>::default();
        registry.register(
            "remote_requests",
            "Requests to other servers, by outcome",
            requests.clone(),
        );
        let opened = Counter::<u64, AtomicU64>::default();
        registry.register(
            "remote_circuit_opened",
            "How often the circuit breaker of another server has opened",
            opened.clone(),
        );
        let circuits = Family::<[(&'static str, String); 1], Gauge>::default();
        registry.register(
            "remote_circuit_open",
            "1 while another server gets no requests because it fails",
            circuits.clone(),
        );
        let outcome = |name| requests.get_or_create(&[("outcome", name)]).clone();
        RemoteMetrics {
            answered: outcome("answered"),
            failed: outcome("failed"),
            refused: outcome("refused"),
            opened,
            circuits,
        }
    }

    pub(super) fn set(&self, stats: RemoteStats) {
        for (counter, number) in [
            (&self.answered, stats.answered),
            (&self.failed, stats.failed),
            (&self.refused, stats.refused),
            (&self.opened, stats.opened),
        ] {
            counter.inner().store(number, Ordering::Relaxed);
        }
        // Only the servers that are remembered, so that the number of series is bounded.
        self.circuits.clear();
        for (server, is_open) in stats.circuits {
            let gauge = self.circuits.get_or_create(&[("server", server)]);
            gauge.set(i64::from(is_open));
        }
    }
}
