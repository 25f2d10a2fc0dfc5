//! [`Metrics`]: metrics for Prometheus. Counting takes a few atomic operations: every series is created at start.

mod format;
mod latency_histogram;
mod refusal;
mod remote;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hiera_resolver::{Answer, Outcome};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

pub(crate) use self::format::MetricsFormat;
use self::format::to_text_format;
use self::latency_histogram::LatencyHistogram;
pub(crate) use self::refusal::Refusal;
use self::remote::RemoteMetrics;
use crate::backends::hiera_http::RemoteStats;
use crate::environments::{self, Environments};

/// All metrics.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: [Counter; 5],
    latency: LatencyHistogram,
    lookups: [Counter; 3],
    refusals: [Counter; Refusal::ALL.len()],
    connections: Gauge,
    requests_in_flight: Gauge,
    waiting_lookups: Gauge,
    event_streams: Gauge,
    environments: Gauge,
    files: Gauge,
    faults: Gauge,
    is_loaded: Gauge,
    kept: Gauge,
    reload_failures: Counter<u64, AtomicU64>,
    info: Family<[(&'static str, String); 2], Gauge>,
    remote: RemoteMetrics,
    /// Held while metrics are set and encoded.
    encoding: Mutex<()>,
}

/// The outcome of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// A value was found.
    Found,
    /// No value was found.
    NotFound,
    /// The lookup failed.
    Failed,
}

impl LookupOutcome {
    pub(crate) fn of(answer: &Answer) -> Self {
        match answer.outcome {
            Ok(Outcome::Found(_)) => LookupOutcome::Found,
            Ok(Outcome::NotFound) => LookupOutcome::NotFound,
            Err(_) => LookupOutcome::Failed,
        }
    }
}

/// What clients occupy at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests_in_flight: usize,
    pub(crate) event_streams: usize,
}

type Labels = [(&'static str, &'static str); 1];

impl Metrics {
    /// Metrics that are all zero.
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("hierad");
        let requests = Family::<Labels, Counter>::default();
        registry.register(
            "http_requests",
            "Requests answered, by status class",
            requests.clone(),
        );
        let lookups = Family::<Labels, Counter<u64, AtomicU64>>::default();
        registry.register("lookups", "Keys looked up, by outcome", lookups.clone());
        let refusals = Family::<Labels, Counter>::default();
        registry.register(
            "refused",
            "Connections and requests refused, by reason",
            refusals.clone(),
        );
        let latency = LatencyHistogram::default();
        registry.register(
            "http_request_seconds",
            "Time from the head of a request to its response",
            latency.clone(),
        );
        let gauge = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let connections = gauge(&mut registry, "connections", "Open connections");
        let requests_in_flight = gauge(
            &mut registry,
            "requests_in_flight",
            "Requests that are being received or answered",
        );
        let event_streams = gauge(&mut registry, "event_streams", "Open event streams");
        let waiting_lookups = gauge(
            &mut registry,
            "waiting_lookups",
            "Long lookups that wait for a thread",
        );
        let environments = gauge(
            &mut registry,
            "environments",
            "Environments served, each from one snapshot",
        );
        let files = gauge(
            &mut registry,
            "snapshot_files",
            "Data files in all snapshots",
        );
        let faults = gauge(&mut registry, "snapshot_faults", "Faults in all snapshots");
        let is_loaded = gauge(
            &mut registry,
            "loaded",
            "1 once all environments are loaded and there is at least one",
        );
        let kept = gauge(
            &mut registry,
            "environments_kept",
            "Environments whose data on disk has new faults and is not served",
        );
        let reload_failures = Counter::<u64, AtomicU64>::default();
        registry.register(
            "reload_failures",
            "Unexpected failures of the reload thread, after each of which it was restarted",
            reload_failures.clone(),
        );
        let info = Family::<[(&'static str, String); 2], Gauge>::default();
        registry.register(
            "environment_info",
            "1 for each environment, with the revision that is served",
            info.clone(),
        );
        let remote = RemoteMetrics::register(&mut registry);
        let class = |name| requests.get_or_create(&[("status", name)]).clone();
        let outcome = |name| lookups.get_or_create(&[("outcome", name)]).clone();
        Arc::new(Metrics {
            requests: [
                class("1xx"),
                class("2xx"),
                class("3xx"),
                class("4xx"),
                class("5xx"),
            ],
            lookups: [outcome("found"), outcome("not_found"), outcome("failed")],
            refusals: Refusal::ALL.map(|reason| {
                let labels = [("reason", reason.label())];
                refusals.get_or_create(&labels).clone()
            }),
            registry,
            latency,
            connections,
            requests_in_flight,
            waiting_lookups,
            event_streams,
            environments,
            files,
            faults,
            is_loaded,
            kept,
            reload_failures,
            info,
            remote,
            encoding: Mutex::default(),
        })
    }

    /// Counts a request.
    pub(crate) fn count_request(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.requests.get(class) {
            counter.inc();
        }
        self.latency.observe(took);
    }

    /// Counts a lookup.
    pub(crate) fn count_lookup(&self, outcome: LookupOutcome) {
        if let Some(counter) = self.lookups.get(outcome as usize) {
            counter.inc();
        }
    }

    /// Counts a connection or a request that was refused.
    pub(crate) fn count_refusal(&self, reason: Refusal) {
        if let Some(counter) = self.refusals.get(reason as usize) {
            counter.inc();
        }
    }

    /// The metrics as Prometheus reads them.
    pub(crate) fn show(
        &self,
        served: &Environments,
        load: Load,
        waiting_lookups: usize,
        remote: RemoteStats,
        format: MetricsFormat,
    ) -> String {
        // Concurrent scrapes must not see metrics half updated.
        let _guard = self.encoding.lock();
        let all = served.all();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.connections.set(count(load.connections));
        self.requests_in_flight.set(count(load.requests_in_flight));
        self.event_streams.set(count(load.event_streams));
        self.waiting_lookups.set(count(waiting_lookups));
        self.environments.set(count(all.len()));
        self.files.set(count(
            all.values()
                .map(|environment| environment.snapshot.files().count())
                .sum(),
        ));
        self.faults.set(count(
            all.values()
                .map(|environment| environments::faults(&environment.snapshot).len())
                .sum(),
        ));
        self.is_loaded
            .set(i64::from(served.not_ready_reason().is_none()));
        self.kept.set(count(
            all.values()
                .filter(|environment| !environment.kept_because.is_empty())
                .count(),
        ));
        self.reload_failures
            .inner()
            .store(served.reload_failures(), Ordering::Relaxed);
        // Only the current revision of each environment, so that the number of series is bounded.
        self.info.clear();
        for (name, environment) in &*all {
            let labels = [
                ("environment", name.clone()),
                ("revision", environment.snapshot.revision().to_owned()),
            ];
            self.info.get_or_create(&labels).set(1);
        }
        self.remote.set(remote);
        let mut text = String::new();
        // Writing to a string cannot fail.
        _ = encode(&mut text, &self.registry);
        match format {
            MetricsFormat::OpenMetrics => text,
            MetricsFormat::Text => to_text_format(&text),
        }
    }
}
