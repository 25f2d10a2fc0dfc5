//! [`Client`]: a connection that stays open.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

/// How long a change may take before the benchmark gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to the server.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Client {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a `POST`, and returns the status and the body of the answer.
    fn post(&mut self, path: &str, body: &str) -> anyhow::Result<(u16, String)> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length, mut line) = (0, 0, String::new());
        while line != "\r\n" {
            line.clear();
            anyhow::ensure!(
                self.stream.read_line(&mut line)? > 0,
                "the connection ended"
            );
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest.split(' ').next().unwrap_or_default().parse()?;
            }
            if let Some(rest) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = rest.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        Ok((status, String::from_utf8(answer)?))
    }

    /// Repeats a lookup until a node has this mark, or none if it is empty. Returns the milliseconds that it took.
    pub(crate) fn wait_for_mark(&mut self, node: &str, mark: &str) -> anyhow::Result<f64> {
        let start = Instant::now();
        let body = json!({ "key": "scale::mark", "node": node }).to_string();
        loop {
            let (status, answer) = self.post("/lookup", &body)?;
            let answer: serde_json::Value = serde_json::from_str(&answer)?;
            let value = answer.get("value").map(|value| match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            if (status == 404 && mark.is_empty()) || value.as_deref() == Some(mark) {
                return Ok(crate::millis(start.elapsed()));
            }
            anyhow::ensure!(
                start.elapsed() < PATIENCE,
                "{node} did not get the mark `{mark}`: {answer}"
            );
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Lookups per second, measured for this time.
    pub(crate) fn ask_for(&mut self, bodies: &[String], time: Duration) -> anyhow::Result<f64> {
        let start = Instant::now();
        self.ask_while(bodies, || start.elapsed() < time)
    }

    /// Lookups per second, measured while a condition holds.
    pub(crate) fn ask_while(
        &mut self,
        bodies: &[String],
        continues: impl Fn() -> bool,
    ) -> anyhow::Result<f64> {
        let (start, mut count) = (Instant::now(), 0);
        for body in bodies.iter().cycle() {
            if !continues() {
                break;
            }
            let (status, answer) = self.post("/lookup", body)?;
            anyhow::ensure!(matches!(status, 200 | 404), "{status} {answer}");
            count += 1;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// Reloads the environment.
    pub(crate) fn reload(&mut self) -> anyhow::Result<String> {
        Ok(self.post("/environments/production/reload", "")?.1)
    }
}
