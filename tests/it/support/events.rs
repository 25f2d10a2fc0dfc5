//! [`Events`]: a stream of server-sent events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::Value;

use super::process::{PATIENCE, Process};

/// The stream of `GET /environments/{environment}/events`.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    pub(crate) fn open(server: &Process, environment: &str) -> Self {
        let mut stream = server.connect().unwrap();
        let request =
            format!("GET /environments/{environment}/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Events {
            lines: BufReader::new(stream),
        }
    }

    /// The name and the data of the next event.
    #[track_caller]
    pub(crate) fn next(&mut self) -> (String, Value) {
        let (mut name, start) = (String::new(), Instant::now());
        loop {
            // Keep-alive comments arrive even if nothing happens.
            assert!(start.elapsed() < PATIENCE, "timed out waiting for an event");
            let mut line = String::new();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "the stream has ended"
            );
            match line.trim_end().split_once(": ") {
                Some(("event", event)) => name = event.to_owned(),
                Some(("data", data)) => return (name, serde_json::from_str(data).unwrap()),
                _ => {}
            }
        }
    }
}
