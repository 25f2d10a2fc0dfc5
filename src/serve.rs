//! `hierad serve`: listen, load, answer, and stop without dropping anything.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Settings;
use crate::environments::Environments;
use crate::http::App;

/// Nested lookups and deep values need more stack than threads usually get. It is only touched when used.
const STACK_SIZE: usize = 32 * 1024 * 1024;
/// Where to listen if nothing is said.
const USUAL_ADDRESS: &str = "127.0.0.1:8080";

/// Serves until told to stop.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<()> {
    let environments = Environments::new(settings.code_directory()?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_SIZE)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(settings, environments))
}

async fn serve(settings: &Settings, environments: Environments) -> anyhow::Result<()> {
    let address = settings.listen.as_deref().unwrap_or(USUAL_ADDRESS);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on `{address}`"))?;
    let local = listener.local_addr().context("cannot tell the address")?;
    tracing::info!(address = %local, "listening on http://{local}");
    let app = App::new(environments.clone(), settings.limits.clone());
    let loading = tokio::task::spawn_blocking(move || environments.load());
    tokio::spawn(async move {
        match loading.await {
            Ok(()) => tracing::info!("ready: every environment is loaded"),
            Err(error) => tracing::error!("loading failed: {error}"),
        }
    });
    accept(settings, listener, &app).await
}

/// Accepts connections until the process is told to stop; then says so at `/readyz`, goes on for the drain
/// delay, and lets what is in flight finish.
async fn accept(settings: &Settings, listener: TcpListener, app: &App) -> anyhow::Result<()> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.limits.request_timeout());
    server.http2().timer(TokioTimer::new());
    let service = TowerToHyperService::new(app.clone().router());
    let connections = GracefulShutdown::new();
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let drained = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        app.start_draining();
        tracing::info!(
            "stopping: /readyz says 503, listening for {} ms more",
            settings.shutdown.drain_delay_ms
        );
        tokio::time::sleep(Duration::from_millis(settings.shutdown.drain_delay_ms)).await;
    };
    tokio::pin!(drained);
    loop {
        let (stream, _peer): (_, SocketAddr) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely; waiting lets others close theirs.
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut drained => break,
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("cannot set TCP_NODELAY: {error}");
        }
        let connection = server
            .serve_connection_with_upgrades(TokioIo::new(stream), service.clone())
            .into_owned();
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("connection ended: {error}");
            }
        });
    }
    drop(listener);
    let timeout = Duration::from_millis(settings.shutdown.timeout_ms);
    if tokio::time::timeout(timeout, connections.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(
            "requests in flight did not finish in {} ms",
            settings.shutdown.timeout_ms
        );
    }
    tracing::info!("stopped");
    Ok(())
}
