//! [`Process`]: `hierad serve` on a tree, over a real socket.

mod resources;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::{RUNTIME, Tree, after_setup};

/// How long a test waits for anything before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Settings with which only file events lead to reloads: the next rescan is an hour away.
pub(crate) const EVENTS_ONLY: [(&str, &str); 2] = [
    ("HIERAD_SETTLE_MS", "20"),
    ("HIERAD_RESCAN_INTERVAL_S", "3600"),
];

/// Polls until there is an answer; panics if none comes in time.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server as a process. It is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
    /// Ends when the process has closed its standard error.
    log_reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a server and waits until it has loaded the tree.
    #[track_caller]
    pub(crate) fn start(tree: &Tree, variables: &[(&str, &str)]) -> Self {
        let process = Process::launch(tree, variables);
        process.wait_until_ready();
        process
    }

    /// Waits until the server has loaded the tree.
    #[track_caller]
    pub(crate) fn wait_until_ready(&self) {
        wait_for("the server to be ready", || {
            (self.get("/readyz").status == 200).then_some(())
        });
    }

    /// Starts a server, which listens and may still be loading.
    #[track_caller]
    pub(crate) fn launch(tree: &Tree, variables: &[(&str, &str)]) -> Self {
        Process::launch_command(tree.hierad("serve"), variables)
    }

    /// The same for a command.
    #[track_caller]
    pub(crate) fn launch_command(server: Command, variables: &[(&str, &str)]) -> Self {
        Process::launch_after("true", server, variables)
    }

    /// The same after a shell command, which may set limits or prepend another program to `"$@"`.
    #[track_caller]
    pub(crate) fn launch_after(
        setup: &str,
        mut server: Command,
        variables: &[(&str, &str)],
    ) -> Self {
        if !server.get_args().any(|argument| argument == "--listen") {
            server.args(["--listen", "127.0.0.1:0"]);
        }
        // A bug in the server must not use up the memory of the machine.
        let setup = format!("ulimit -v 6000000 && {setup}");
        let mut child = after_setup(&setup, &server)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let (found, address) = channel();
        let kept = log.clone();
        let log_reader = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on http://") {
                    let address = address.split(['"', ' ']).next().unwrap_or_default();
                    // The receiver is dropped once it has an address.
                    _ = found.send(address.parse().unwrap());
                }
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        let address = address.recv_timeout(PATIENCE);
        let address =
            address.unwrap_or_else(|_| panic!("no address in the log:\n{}", log.lock().unwrap()));
        Process {
            child,
            address,
            log,
            log_reader: Some(log_reader),
        }
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Connects.
    pub(crate) fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Connects from another address of this machine.
    pub(crate) fn connect_from(&self, address: &str) -> std::io::Result<TcpStream> {
        let local = SocketAddr::new(address.parse().unwrap(), 0);
        let stream = RUNTIME.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.bind(local)?;
            socket.connect(self.address).await?.into_std()
        })?;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends bytes on a new connection and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let answer = self.connect().and_then(|mut stream| {
            // A server may refuse a request before it has read it.
            _ = stream.write_all(request);
            Answer::read(&mut stream)
        });
        answer.unwrap_or_else(|error| Answer {
            status: 0,
            head: error.to_string(),
            body: Vec::new(),
        })
    }

    /// `GET`.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    }

    /// `POST /lookup`.
    pub(crate) fn lookup(&self, body: &[u8]) -> Answer {
        let mut request = lookup_head(body.len(), "Connection: close\r\n").into_bytes();
        request.extend_from_slice(body);
        self.send(&request)
    }

    /// Repeats a lookup until it has this value, or fails with this status; see [`Answer::value_or_status`].
    #[track_caller]
    pub(crate) fn wait_for_value(&self, request: &Value, expected: &Value) {
        let body = request.to_string();
        let start = Instant::now();
        loop {
            let value = self.lookup(body.as_bytes()).value_or_status();
            if value == *expected {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{request} is {value}, not {expected}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it, and returns everything that it logged.
    #[track_caller]
    pub(crate) fn stop(mut self) -> String {
        self.terminate();
        let status = wait_for("the end of the process", || self.ended());
        assert_eq!(status.code(), Some(0), "{}", self.log());
        let reader = self.log_reader.take().unwrap();
        reader.join().unwrap();
        self.log()
    }

    /// Has it ended?
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The head of a `POST /lookup`.
pub(crate) fn lookup_head(length: usize, more: &str) -> String {
    format!(
        "POST /lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n"
    )
}

/// An answer from the wire. Status 0 means that there was none.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads one answer; the connection may stay open.
    pub(crate) fn read(stream: &mut TcpStream) -> std::io::Result<Self> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 {
                break;
            }
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        let length = head
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body)?;
        Ok(Answer { status, head, body })
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{} {}", self.head, self.text()))
    }

    /// The value of a lookup, or `{"status": STATUS}` if it failed.
    #[track_caller]
    pub(crate) fn value_or_status(&self) -> Value {
        match self.status {
            200 => self.json()["value"].clone(),
            status => json!({ "status": status }),
        }
    }
}
