//! Readiness: whether everything is loaded, and if nothing can be served, why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwapOption;

use super::Environments;
use crate::data_loading::NoEnvironments;

/// Whether the server can answer, and whether its data is up to date.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    is_loaded: AtomicBool,
    /// The reload thread ended unexpectedly and has not caught up yet.
    has_reload_failed: AtomicBool,
    reload_failures: AtomicU64,
    /// Why there are no environments.
    no_environments: ArcSwapOption<String>,
}

impl Environments {
    /// Every environment that existed at start has been loaded.
    pub fn set_loaded(&self) {
        let readiness = &self.inner.readiness;
        readiness.is_loaded.store(true, Ordering::Release);
    }

    /// Has every environment been loaded?
    pub fn is_loaded(&self) -> bool {
        self.inner.readiness.is_loaded.load(Ordering::Acquire)
    }

    /// The reload thread ended unexpectedly: the data may be out of date until it has been restarted.
    pub(crate) fn report_reload_failure(&self) {
        tracing::error!("reloading failed unexpectedly; restarting it");
        let readiness = &self.inner.readiness;
        readiness.reload_failures.fetch_add(1, Ordering::Relaxed);
        readiness.has_reload_failed.store(true, Ordering::Release);
    }

    /// The reload thread has been restarted and has checked everything.
    pub(crate) fn report_reload_recovery(&self) {
        let readiness = &self.inner.readiness;
        readiness.has_reload_failed.store(false, Ordering::Release);
    }

    /// Has reloading failed, so that the data may be out of date?
    pub(crate) fn has_reload_failed(&self) -> bool {
        let readiness = &self.inner.readiness;
        readiness.has_reload_failed.load(Ordering::Acquire)
    }

    /// How often reloading has failed.
    pub(crate) fn reload_failures(&self) -> u64 {
        self.inner.readiness.reload_failures.load(Ordering::Relaxed)
    }

    /// There are no environments. Each reason is logged once.
    pub(crate) fn report_no_environments(&self, reason: &NoEnvironments) {
        let reason = Arc::new(reason.to_string());
        let readiness = &self.inner.readiness;
        let previous = readiness.no_environments.swap(Some(reason.clone()));
        if previous.as_ref() != Some(&reason) {
            tracing::error!("{reason}");
        }
    }

    pub(super) fn clear_no_environments(&self) {
        self.inner.readiness.no_environments.store(None);
    }

    /// Why no environment can be served; `None` if one can.
    pub(crate) fn not_ready_reason(&self) -> Option<String> {
        if !self.is_loaded() {
            return Some("the environments are being loaded; try again in a moment".to_owned());
        }
        if !self.inner.current.load().is_empty() {
            return None;
        }
        let reason = self.inner.readiness.no_environments.load_full();
        Some(reason.map_or_else(
            || "all environments are gone".to_owned(),
            |text| text.to_string(),
        ))
    }
}
