//! [`MetricsFormat`]: OpenMetrics, or the older text format.

/// The formats of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsFormat {
    /// OpenMetrics 1.0, which Prometheus requests.
    OpenMetrics,
    /// The older text format, for all other clients.
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

/// OpenMetrics → the older text format, in which comments have the full names of counters, and no line marks the end.
pub(super) fn to_text_format(text: &str) -> String {
    let counters: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut converted = String::with_capacity(text.len());
    for line in text.lines().filter(|line| *line != "# EOF") {
        match line.splitn(4, ' ').collect::<Vec<_>>().as_slice() {
            ["#", word, name, rest] if counters.contains(name) => {
                converted.extend(["# ", word, " ", name, "_total ", rest]);
            }
            _ => converted.push_str(line),
        }
        converted.push('\n');
    }
    converted
}
