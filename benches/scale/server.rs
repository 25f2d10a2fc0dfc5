//! `hierad serve` on the tree, as a process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;

use crate::client::Client;
use crate::plain_parse::cpu_time;
use crate::tree::Tree;

/// A server that has loaded everything. It is killed when the value is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    /// Milliseconds from the start until it was ready.
    pub(crate) ready_after: f64,
    /// The CPU time until then, in milliseconds.
    pub(crate) cpu_time: f64,
    /// Standard input and output, if allocations are counted.
    pipes: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

/// Bytes on the heap.
pub(crate) struct Heap {
    pub(crate) live: usize,
    pub(crate) peak: usize,
}

impl Server {
    /// Starts the release binary.
    pub(crate) fn start(tree: &Tree, variables: &[(&str, &str)]) -> anyhow::Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hierad"));
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Server::launch(command, tree)
    }

    /// Starts a server whose allocations are counted.
    pub(crate) fn start_counted(tree: &Tree) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Server::launch(command, tree)?;
        server.pipes = server
            .child
            .stdin
            .take()
            .zip(server.child.stdout.take().map(BufReader::new));
        Ok(server)
    }

    fn launch(mut command: Command, tree: &Tree) -> anyhow::Result<Self> {
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--codedir"])
            .arg(&tree.root)
            .env("NO_COLOR", "1")
            // A rescan would be measured too.
            .env("HIERAD_RESCAN_INTERVAL_S", "3600")
            .stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn()?;
        let mut log = BufReader::new(child.stderr.take().context("no log")?);
        let (mut address, mut line) = (None, String::new());
        loop {
            line.clear();
            anyhow::ensure!(log.read_line(&mut line)? > 0, "the server ended");
            if let Some((_, text)) = line.split_once("listening on http://") {
                address = Some(
                    text.split(['"', ' ', '\n'])
                        .next()
                        .unwrap_or_default()
                        .parse()?,
                );
            }
            if line.contains("ready: every environment is loaded") {
                break;
            }
        }
        let ready_after = crate::millis(start.elapsed());
        let cpu_time = cpu_time(&child.id().to_string())?;
        // The log must be read to the end, or the server would block.
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while log
                .read_until(b'\n', &mut line)
                .is_ok_and(|length| length > 0)
            {
                line.clear();
            }
        });
        let address = address.context("no address in the log")?;
        Ok(Server {
            child,
            address,
            ready_after,
            cpu_time,
            pipes: None,
        })
    }

    /// Connects to the server.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(self.address)
    }

    /// The live bytes, and their peak since the previous call.
    pub(crate) fn live_heap(&mut self) -> anyhow::Result<Heap> {
        let (input, output) = self.pipes.as_mut().context("allocations are not counted")?;
        input.write_all(b"\n")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        let (live, peak) = line.trim().split_once(' ').context("unexpected output")?;
        Ok(Heap {
            live: live.parse()?,
            peak: peak.parse()?,
        })
    }

    /// The resident memory of the process, in bytes.
    pub(crate) fn resident(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("no VmRSS")?;
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes * 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
