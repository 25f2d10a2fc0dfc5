//! Signals: SIGTERM and SIGINT stop the server, SIGHUP reloads its data.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::reload::Reloader;

/// SIGTERM and SIGINT, which have the same effect.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// From now on these signals no longer kill the process.
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(StopSignals {
            terminate: listen_for(SignalKind::terminate(), "SIGTERM")?,
            interrupt: listen_for(SignalKind::interrupt(), "SIGINT")?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// SIGHUP, which kills the process unless it is handled.
pub(super) struct ReloadSignal(Signal);

impl ReloadSignal {
    /// From now on this signal no longer kills the process.
    pub(super) fn listen() -> anyhow::Result<Self> {
        listen_for(SignalKind::hangup(), "SIGHUP").map(ReloadSignal)
    }

    /// Reloads every environment on each signal.
    pub(super) async fn reload(mut self, reloader: Reloader) {
        while self.0.recv().await.is_some() {
            tracing::info!("SIGHUP: reloading every environment");
            reloader.reload_all();
        }
    }
}

fn listen_for(kind: SignalKind, name: &str) -> anyhow::Result<Signal> {
    signal(kind).with_context(|| format!("cannot listen for {name}"))
}
