//! `hierad serve`: listens, loads, answers, and stops without dropping requests.

mod client_stream;
mod signals;
mod slow_clock;
pub(crate) mod telemetry;

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, bail};
use hyper::server::conn::http1;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::client_stream::ClientStream;
use self::signals::{ReloadSignal, StopSignals};
use self::slow_clock::SlowClock;
use crate::config::{CodeDirectory, Settings};
use crate::environments::Environments;
use crate::http::{App, MAX_HEAD_SIZE};
use crate::reload::Reloader;

/// Where to listen by default.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";

/// Serves until a signal stops the server.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<()> {
    let code = settings.code_directory()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(crate::STACK_SIZE)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let end = runtime.block_on(serve(settings, code));
    // Does not wait for blocking tasks, such as resolving a host name.
    runtime.shutdown_background();
    end
}

async fn serve(settings: &Settings, code: CodeDirectory) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let reload_signal = ReloadSignal::listen()?;
    let address = settings.listen.as_deref().unwrap_or(DEFAULT_ADDRESS);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on `{address}`"))?;
    let local = listener
        .local_addr()
        .context("cannot determine the address")?;
    tracing::info!(address = %local, "listening on http://{local}");
    let environments = Environments::new();
    let reloader = Reloader::start(code, settings.reload.clone(), environments.clone())
        .context("cannot start the reload thread")?;
    tokio::spawn(reload_signal.reload(reloader.clone()));
    let app = App::new(environments, settings.limits.clone())
        .with_remotes(&settings.remote)
        .with_cors_origins(&settings.http.cors_origins)
        .with_access_log(settings.log.access)
        .with_reloader(reloader);
    let (stop, stopped) = oneshot::channel();
    let mut serving = pin!(accept_until(stopped, settings, listener, &app));
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = stop_signals.next() => {}
    }
    // The receiver is polled right below.
    _ = stop.send(());
    tokio::select! {
        () = &mut serving => Ok(()),
        () = stop_signals.next() => bail!("stopped by a second signal; requests in flight were dropped"),
    }
}

/// Accepts connections until `stop`; then turns `/readyz` to 503, keeps listening for the drain delay, and lets requests
/// in flight finish.
async fn accept_until(
    stop: oneshot::Receiver<()>,
    settings: &Settings,
    listener: TcpListener,
    app: &App,
) {
    let service = TowerToHyperService::new(app.clone().service());
    let connections = GracefulShutdown::new();
    let stopped = tokio::sync::watch::Sender::new(());
    let mut drained = pin!(async {
        _ = stop.await;
        app.start_draining();
        tracing::info!(
            "stopping: /readyz returns 503, listening for {} ms more",
            settings.shutdown.drain_delay_ms
        );
        tokio::time::sleep(settings.shutdown.drain_delay()).await;
    });
    loop {
        let (stream, _peer): (_, SocketAddr) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Probably out of file descriptors; waiting lets other connections close.
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
        let (service, watcher, app) = (service.clone(), connections.watcher(), app.clone());
        let mut stop = stopped.subscribe();
        let timeout = settings.limits.request_timeout();
        tokio::spawn(async move {
            // hyper's timeout for headers only starts with their first byte.
            tokio::select! {
                readable = tokio::time::timeout(timeout, stream.readable()) => if readable.is_err() { return },
                _ = stop.changed() => return,
            }
            let clock = SlowClock::for_timeout(timeout);
            let connection = http1::Builder::new()
                .timer(clock.clone())
                .header_read_timeout(timeout)
                .max_buf_size(MAX_HEAD_SIZE)
                .serve_connection(ClientStream::new(stream, app), service);
            if let Err(error) = clock.drive(watcher.watch(connection)).await {
                tracing::debug!("connection ended: {error}");
            }
        });
    }
    drop(listener);
    drop(stopped);
    if tokio::time::timeout(settings.shutdown.timeout(), connections.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(
            "requests in flight did not finish in {} ms",
            settings.shutdown.timeout_ms
        );
    }
    tracing::info!("stopped");
}
