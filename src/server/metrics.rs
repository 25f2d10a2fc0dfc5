//! Figures for Prometheus. Counting is a few atomic operations: every series is made when the server starts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::environments::{self, Environments};

/// All figures.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: [Counter; 5],
    seconds: Seconds,
    lookups: [Counter; 3],
    environments: Gauge,
    files: Gauge,
    faults: Gauge,
    is_loaded: Gauge,
    kept: Gauge,
    reload_failures: Counter<u64, AtomicU64>,
    info: Family<[(&'static str, String); 2], Gauge>,
    reading: Mutex<()>,
}

/// The forms of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsFormat {
    /// OpenMetrics 1.0, which Prometheus asks for.
    OpenMetrics,
    /// The older text format, for all others.
    Text,
}

impl MetricsFormat {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            MetricsFormat::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
            MetricsFormat::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// OpenMetrics as the older text format: there, counters are described by their whole name, and no line marks the end.
fn without_openmetrics(text: &str) -> String {
    let counters: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut shown = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF") {
        match line.splitn(4, ' ').collect::<Vec<_>>().as_slice() {
            ["#", word, name, rest] if counters.contains(name) => {
                shown.extend(["# ", word, " ", name, "_total ", rest]);
            }
            _ => shown.push_str(line),
        }
        shown.push('\n');
    }
    shown
}

/// How long requests took. The library's histogram takes a lock for every observation.
#[derive(Clone, Debug, Default)]
struct Seconds {
    counts: Arc<[AtomicU64; BOUNDS.len() + 1]>,
    nanoseconds: Arc<AtomicU64>,
}

/// Where the buckets end, in seconds.
const BOUNDS: [f64; 13] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0,
];

impl Seconds {
    fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound);
        if let Some(count) = self.counts.get(bucket.unwrap_or(BOUNDS.len())) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl EncodeMetric for Seconds {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        // Without a last bucket `+Inf`, `histogram_quantile` is NaN.
        let bounds = BOUNDS.iter().copied().chain([f64::INFINITY]);
        let counts = self
            .counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        encoder.encode_histogram::<NoLabelSet>(sum.as_secs_f64(), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// What a lookup came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// A value.
    Found,
    /// None.
    NotFound,
    /// An error.
    Failed,
}

type Labels = [(&'static str, &'static str); 1];

impl Metrics {
    /// Figures that all stand at zero.
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("hierad");
        let requests = Family::<Labels, Counter>::default();
        registry.register(
            "http_requests",
            "Requests answered, by class of status",
            requests.clone(),
        );
        let lookups = Family::<Labels, Counter<u64, AtomicU64>>::default();
        registry.register("lookups", "Keys looked up, by outcome", lookups.clone());
        let seconds = Seconds::default();
        registry.register(
            "http_request_seconds",
            "Time from the head of a request to its answer",
            seconds.clone(),
        );
        let gauge = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
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
            "Environments whose data on disk has faults and is not served",
        );
        let reload_failures = Counter::<u64, AtomicU64>::default();
        registry.register(
            "reload_failures",
            "Times that the thread which reloads ended unexpectedly and was started again",
            reload_failures.clone(),
        );
        let info = Family::<[(&'static str, String); 2], Gauge>::default();
        registry.register(
            "environment_info",
            "1 for each environment, with the revision that is served",
            info.clone(),
        );
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
            registry,
            seconds,
            environments,
            files,
            faults,
            is_loaded,
            kept,
            reload_failures,
            info,
            reading: Mutex::default(),
        })
    }

    /// Counts a request.
    pub(crate) fn count_request(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(counter) = self.requests.get(class) {
            counter.inc();
        }
        self.seconds.observe(took);
    }

    /// Counts a lookup.
    pub(crate) fn count_lookup(&self, outcome: LookupOutcome) {
        if let Some(counter) = self.lookups.get(outcome as usize) {
            counter.inc();
        }
    }

    /// The figures as Prometheus reads them.
    pub(crate) fn show(&self, served: &Environments, format: MetricsFormat) -> String {
        // The figures on environments are set anew, which somebody else's reading must not see half done.
        let _turn = self.reading.lock();
        let all = served.all();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
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
        // One revision for each environment, so that the labels stay bounded.
        self.info.clear();
        for (name, environment) in &*all {
            let labels = [
                ("environment", name.clone()),
                ("revision", environment.snapshot.revision().to_owned()),
            ];
            self.info.get_or_create(&labels).set(1);
        }
        let mut text = String::new();
        // Writing into a string cannot fail.
        _ = encode(&mut text, &self.registry);
        match format {
            MetricsFormat::OpenMetrics => text,
            MetricsFormat::Text => without_openmetrics(&text),
        }
    }
}
