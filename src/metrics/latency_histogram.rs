//! [`LatencyHistogram`]: how long requests took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// A histogram of durations, without locks. The library's own takes a lock for every observation.
#[derive(Clone, Debug, Default)]
pub(super) struct LatencyHistogram {
    counts: Arc<[AtomicU64; BOUNDS.len() + 1]>,
    nanoseconds: Arc<AtomicU64>,
}

/// The upper bounds of the buckets, in seconds.
const BOUNDS: [f64; 13] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0,
];

impl LatencyHistogram {
    /// Counts one request.
    pub(super) fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound);
        if let Some(count) = self.counts.get(bucket.unwrap_or(BOUNDS.len())) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl EncodeMetric for LatencyHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        // Without the last bucket `+Inf`, `histogram_quantile` is NaN.
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
