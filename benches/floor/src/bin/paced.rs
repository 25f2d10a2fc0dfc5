//! Load at a pace, which wrk has not: so many requests a second over connections that are kept, whether the server
//! keeps up or not.
//!
//!     paced ADDR:PORT PATH BODIES CONNECTIONS SECONDS RATE
//!
//! BODIES is a file with one body a line. A RATE of 0 is as fast as it goes. Prints one line of JSON: the requests a
//! second that were answered, and their 50th and 99th percentile in microseconds.
//!
//! A request that is due while its connection still waits for an answer counts from when it was due, as the waiting is
//! the server's doing. One that is sent late since this process was not woken in time counts from when it was sent.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, bodies, connections, seconds, rate] = arguments.as_slice() else {
        return Err("usage: paced ADDR:PORT PATH BODIES CONNECTIONS SECONDS RATE".into());
    };
    let (connections, seconds): (u32, f64) = (connections.parse()?, seconds.parse()?);
    let rate: f64 = rate.parse()?;
    let requests: Vec<Vec<u8>> = std::fs::read_to_string(bodies)?
        .lines()
        .map(|body| request(address, path, body))
        .collect();
    // For a connection: the time between two requests. Each starts a little after the one before it.
    let pause = (rate > 0.0).then(|| Duration::from_secs_f64(f64::from(connections) / rate));
    let start = Instant::now() + Duration::from_millis(100);
    let end = start + Duration::from_secs_f64(seconds);
    let mut latencies = thread::scope(|scope| -> Result<Vec<Duration>, Failure> {
        let spawn = |place: u32| {
            let offset = pause.unwrap_or_default() * place / connections;
            let requests = requests.iter().cycle().skip(place as usize * 7);
            scope.spawn(move || drive(address, requests, start + offset, end, pause))
        };
        let threads: Vec<_> = (0..connections).map(spawn).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a connection failed")??);
        }
        Ok(all)
    })?;
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

/// Sends requests over one connection until the end: what each took.
fn drive<'a>(
    address: &str,
    requests: impl Iterator<Item = &'a Vec<u8>>,
    mut due: Instant,
    end: Instant,
    pause: Option<Duration>,
) -> Result<Vec<Duration>, Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut latencies = Vec::new();
    for request in requests {
        if due >= end {
            break;
        }
        let wait = due.saturating_duration_since(Instant::now());
        let sent = if wait.is_zero() {
            due
        } else {
            thread::sleep(wait);
            Instant::now()
        };
        stream.write_all(request)?;
        read_answer(&mut answers)?;
        latencies.push(sent.elapsed());
        due = match pause {
            Some(pause) => due + pause,
            None => Instant::now(),
        };
    }
    Ok(latencies)
}

fn read_answer(answers: &mut impl BufRead) -> Result<(), Failure> {
    let mut line = String::new();
    answers.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200") {
        return Err(format!("answered {line:?}").into());
    }
    let mut length = 0;
    loop {
        line.clear();
        answers.read_line(&mut line)?;
        if line.trim_end().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    std::io::copy(&mut answers.take(length), &mut std::io::sink())?;
    Ok(())
}
