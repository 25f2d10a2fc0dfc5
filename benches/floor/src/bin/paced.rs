//! Load at a pace, which wrk has not: so many requests a second over connections that are kept, whether the server
//! keeps up or not.
//!
//!     paced ADDR:PORT PATH BODIES CONNECTIONS SECONDS RATE
//!
//! BODIES is a file with one body a line. A RATE of 0 is as fast as it goes. Prints one line of JSON: the requests a
//! second that were answered, and their 50th and 99th percentile in microseconds.
//!
//! A request counts from when it was due: if its connection still waits for an answer then, the waiting is the server's
//! doing. One thread does everything and never sleeps, so that no time is lost until it is woken. It needs a core of its
//! own. Where the machine takes that away for a moment, what would have been due meanwhile is not asked for: nobody
//! waited for it.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

type Failure = Box<dyn Error>;

/// Requests and answers that one turn of the loop sees to.
const TURN: usize = 8;
/// Some microseconds for each of them at most: a turn that takes longer has lost its core meanwhile.
const STALL: Duration = Duration::from_micros(200);

/// Not measured: connections are taken on one after the other, and what is asked meanwhile waits for that.
const WARM_UP: Duration = Duration::from_millis(100);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, bodies, connections, seconds, rate] = arguments.as_slice() else {
        return Err("usage: paced ADDR:PORT PATH BODIES CONNECTIONS SECONDS RATE".into());
    };
    let (connections, seconds): (usize, f64) = (connections.parse()?, seconds.parse()?);
    let rate: f64 = rate.parse()?;
    let requests: Vec<Vec<u8>> = std::fs::read_to_string(bodies)?
        .lines()
        .map(|body| request(address, path, body))
        .collect();
    let mut load = Load::connect(address, connections)?;
    let duration = Duration::from_secs_f64(seconds);
    let pause = match rate > 0.0 {
        true => Duration::from_secs_f64(1.0 / rate),
        false => Duration::ZERO,
    };
    load.run(&requests, WARM_UP, pause)?;
    let mut latencies = load.run(&requests, duration, pause)?;
    latencies.sort_unstable();
    let percentile = |part: f64| {
        let place = (latencies.len() as f64 * part) as usize;
        latencies
            .get(place)
            .map_or(0.0, |it| it.as_secs_f64() * 1e6)
    };
    writeln!(
        std::io::stdout(),
        r#"{{"requests_per_second":{:.1},"p50":{:.1},"p99":{:.1}}}"#,
        latencies.len() as f64 / seconds,
        percentile(0.5),
        percentile(0.99)
    )?;
    Ok(())
}

fn request(address: &str, path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// All connections, and who is to send next.
struct Load {
    poll: Poll,
    connections: Vec<Connection>,
    /// Places of connections that wait for nothing.
    idle: VecDeque<usize>,
}

struct Connection {
    stream: TcpStream,
    /// When the request on its way was due.
    due: Instant,
    answer: Vec<u8>,
}

impl Load {
    fn connect(address: &str, count: usize) -> Result<Self, Failure> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(count);
        for place in 0..count {
            let stream = std::net::TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            let token = Token(place);
            poll.registry()
                .register(&mut stream, token, Interest::READABLE)?;
            connections.push(Connection {
                stream,
                due: Instant::now(),
                answer: Vec::new(),
            });
        }
        Ok(Load {
            poll,
            connections,
            idle: (0..count).collect(),
        })
    }

    /// Sends a request each `pause`, over the connection that has been idle for longest: what each took.
    fn run(
        &mut self,
        requests: &[Vec<u8>],
        duration: Duration,
        pause: Duration,
    ) -> Result<Vec<Duration>, Failure> {
        let mut requests = requests.iter().cycle();
        let mut events = Events::with_capacity(TURN);
        let mut latencies = Vec::new();
        let start = Instant::now();
        let (mut due, mut last) = (start, start);
        while start.elapsed() < duration {
            let now = Instant::now();
            let turn = now - last;
            if turn > STALL {
                due += turn;
            }
            last = now;
            if pause.is_zero() {
                due = now;
            }
            for _ in 0..TURN {
                if due <= now
                    && let Some(place) = self.idle.pop_front()
                    && let (Some(connection), Some(request)) =
                        (self.connections.get_mut(place), requests.next())
                {
                    connection.send(request, due)?;
                    due += pause;
                }
            }
            self.poll.poll(&mut events, Some(Duration::ZERO))?;
            for event in &events {
                let Token(place) = event.token();
                if let Some(connection) = self.connections.get_mut(place)
                    && connection.receive()?
                {
                    latencies.push(connection.due.elapsed());
                    self.idle.push_back(place);
                }
            }
        }
        Ok(latencies)
    }
}

impl Connection {
    fn send(&mut self, request: &[u8], due: Instant) -> Result<(), Failure> {
        self.due = due;
        self.answer.clear();
        // A few kilobytes fit the socket's buffer, which is empty.
        match self.stream.write(request)? == request.len() {
            true => Ok(()),
            false => Err("a request was not taken whole".into()),
        }
    }

    /// Reads what has come. Is the answer complete?
    fn receive(&mut self) -> Result<bool, Failure> {
        match self.stream.read_to_end(&mut self.answer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Err("the server closed a connection".into()),
        }
        let Some(length) = length_of(&self.answer)? else {
            return Ok(false);
        };
        Ok(self.answer.len() >= length)
    }
}

/// How long an answer is with its head; `None` while that is not there.
fn length_of(answer: &[u8]) -> Result<Option<usize>, Failure> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(answer.get(..end).unwrap_or_default())?;
    if !head.starts_with("HTTP/1.1 200") {
        return Err(format!("answered {head:?}").into());
    }
    let mut lengths = head.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>())
    });
    let body = lengths.next().ok_or("an answer without a length")??;
    Ok(Some(end + 4 + body))
}
