//! `hierad serve`: listens, loads, answers, and stops without dropping requests.

mod accept;
mod client_stream;
mod descriptors;
mod inspected_stream;
mod request_framing;
mod signals;
mod slow_clock;
pub(crate) mod telemetry;

use std::pin::pin;

use anyhow::{Context, bail};
use hyper::server::conn::http1;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::oneshot;

use self::accept::{Acceptor, OpenConnection};
use self::client_stream::ClientStream;
use self::signals::{ReloadSignal, StopSignals};
use self::slow_clock::SlowClock;
use crate::config::{CodeDirectory, ConnectionSettings, Settings};
use crate::environments::Environments;
use crate::http::App;
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
    let (listener, local) = accept::listen(address).await?;
    tracing::info!(address = %local, "listening on http://{local}");
    let environments = Environments::new();
    let reloader = Reloader::start(code, settings.reload.clone(), environments.clone())
        .context("cannot start the reload thread")?;
    tokio::spawn(reload_signal.reload(reloader.clone()));
    let connections = descriptors::fit_connections(&settings.connections, &settings.remote);
    let app = App::new(environments, settings.limits.clone())
        .with_connections(&connections)
        .with_listener(address, local, &settings.http.allowed_hosts)
        .with_remotes(&settings.remote)
        .with_cors_origins(&settings.http.cors_origins)
        .with_access_log(settings.log.access)
        .with_reloader(reloader);
    let (stop, stopped) = oneshot::channel();
    let acceptor = Acceptor::new(listener, app.clone());
    let mut serving = pin!(accept_until(
        stopped,
        settings,
        &connections,
        acceptor,
        &app
    ));
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
    limits: &ConnectionSettings,
    mut acceptor: Acceptor,
    app: &App,
) {
    let gate = app.clone().service();
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
        let OpenConnection {
            stream,
            client,
            share,
        } = tokio::select! {
            accepted = acceptor.next() => accepted,
            () = &mut drained => break,
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("cannot set TCP_NODELAY: {error}");
        }
        let service = TowerToHyperService::new(gate.for_client(client));
        let (watcher, app) = (connections.watcher(), app.clone());
        let mut stop = stopped.subscribe();
        let timeout = settings.limits.request_timeout();
        let (send_timeout, max_head_size) = (limits.send_timeout(), limits.head_size());
        tokio::spawn(async move {
            // The connection counts until this task ends.
            let _share = share;
            // hyper's timeout for headers only starts with their first byte.
            tokio::select! {
                readable = tokio::time::timeout(timeout, stream.readable()) => if readable.is_err() { return },
                _ = stop.changed() => return,
            }
            let clock = SlowClock::for_timeout(timeout.min(send_timeout));
            let stream = ClientStream::new(stream, app, clock.clone(), send_timeout);
            let connection = http1::Builder::new()
                .timer(clock.clone())
                .header_read_timeout(timeout)
                // The buffer may become larger than asked for, and holds parts of bodies as well.
                .max_header_size(max_head_size)
                .max_buf_size(max_head_size)
                .serve_connection(stream, service);
            if let Err(error) = clock.drive(watcher.watch(connection)).await {
                tracing::debug!("connection ended: {error}");
            }
        });
    }
    drop(acceptor);
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
