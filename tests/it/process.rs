//! [`Process`]: `hierad serve` on a tree, spoken to over its socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::Tree;

/// How long anything may take before a test gives up waiting.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Asks again and again until the answer is there; panics where it does not come in time.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server as a process of its own. Ends with its value.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Process {
    /// A server that has loaded the tree.
    #[track_caller]
    pub(crate) fn start(tree: &Tree, variables: &[(&str, &str)]) -> Self {
        let process = Process::launch(tree, variables);
        wait_for("the server to be ready", || {
            (process.get("/readyz").status == 200).then_some(())
        });
        process
    }

    /// A server that listens and may still be loading.
    #[track_caller]
    pub(crate) fn launch(tree: &Tree, variables: &[(&str, &str)]) -> Self {
        Process::launch_command(tree.hierad("serve"), variables)
    }

    /// The same, of a command line.
    #[track_caller]
    pub(crate) fn launch_command(server: Command, variables: &[(&str, &str)]) -> Self {
        Process::launch_after("true", server, variables)
    }

    /// The same after a shell command, which may set limits or put another program in front of `"$@"`.
    #[track_caller]
    pub(crate) fn launch_after(
        setup: &str,
        mut server: Command,
        variables: &[(&str, &str)],
    ) -> Self {
        server.args(["--listen", "127.0.0.1:0"]);
        // A server that goes wrong must not take the machine with it.
        let script = format!("ulimit -v 6000000 && {setup} && exec \"$@\"");
        let mut child = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(server.get_program())
            .args(server.get_args())
            .current_dir("/")
            .env_clear()
            .envs(
                std::env::vars_os()
                    .filter(|(name, _)| !name.to_string_lossy().starts_with("HIERAD_")),
            )
            .env("NO_COLOR", "1")
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
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on http://") {
                    let address = address.split(['"', ' ']).next().unwrap_or_default();
                    // The other side is gone once it has one address.
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

    /// Sends bytes on a connection of their own, and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let answer = self.connect().and_then(|mut stream| {
            // A server that refuses early need not read to the end.
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
        self.send(format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
    }

    /// `POST /lookup`.
    pub(crate) fn lookup(&self, body: &[u8]) -> Answer {
        let mut request = lookup_head(body.len(), "Connection: close\r\n").into_bytes();
        request.extend_from_slice(body);
        self.send(&request)
    }

    /// Tells it to stop.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
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
        "POST /lookup HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n"
    )
}

/// An answer off the wire. Status 0: there was none.
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
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{} {}", self.head, self.text()))
    }
}
