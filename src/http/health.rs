//! Health checks and metrics, for load balancers and Prometheus.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::App;
use super::error::{ApiError, ErrorKind};
use crate::metrics::MetricsFormat;

/// The process is alive.
pub(crate) async fn livez() -> &'static str {
    "ok\n"
}

/// Requests can be answered: all environments are loaded, there is at least one, and the server is not stopping.
pub(crate) async fn readyz(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.is_draining.load(Ordering::Acquire) {
        return Err(ApiError::new(
            ErrorKind::NotLoaded,
            "the server is stopping",
        ));
    }
    if app.environments.has_reload_failed() {
        return Err(ApiError::new(
            ErrorKind::NotLoaded,
            "reloading failed unexpectedly and is being restarted; the data may be out of date",
        ));
    }
    match app.environments.not_ready_reason() {
        Some(reason) => Err(ApiError::new(ErrorKind::NotLoaded, reason)),
        None => Ok("ready\n"),
    }
}

/// Metrics for Prometheus.
pub(crate) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let wants_openmetrics = accepted
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/openmetrics-text"));
    let format = if wants_openmetrics {
        MetricsFormat::OpenMetrics
    } else {
        MetricsFormat::Text
    };
    let content_type = HeaderValue::from_static(format.content_type());
    (
        [(header::CONTENT_TYPE, content_type)],
        app.metrics.show(
            &app.environments,
            app.in_flight.load(),
            app.compute.waiting(),
            app.remotes.stats(),
            format,
        ),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::config::Limits;
    use crate::environments::Environments;

    #[tokio::test]
    async fn a_server_that_cannot_reload_is_not_ready() {
        let environments = Environments::new();
        let snapshot = hiera_resolver::Snapshot::build(Default::default());
        environments.serve("production", snapshot.into());
        environments.set_loaded();
        let app = App::new(environments.clone(), Limits::default());
        assert!(readyz(State(app.clone())).await.is_ok());
        environments.report_reload_failure();
        let refused = readyz(State(app.clone())).await.unwrap_err();
        assert_eq!(refused.into_response().status(), 503);
        environments.report_reload_recovery();
        assert!(readyz(State(app)).await.is_ok());
    }
}
