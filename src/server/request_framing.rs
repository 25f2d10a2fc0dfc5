//! [`RequestFraming`]: follows the requests on a connection, and finds heads that hyper accepts and RFC 9112 does not.
//!
//! Servers that read such a head differently disagree where the next request starts, and one of them takes a part of a
//! body for a request. When hyper passes a head on, it has already decided how to read it, so this looks at the bytes
//! before hyper does. It only has to find lines: everything else that is wrong with them, hyper refuses.

use memchr::memchr;

use crate::http::HeadFault;

/// How much of an incomplete line is kept. The lines that matter are shorter.
const KEPT: usize = 128;

/// Where in the requests of a connection the next byte is.
#[derive(Debug, Default)]
pub(super) struct RequestFraming {
    state: State,
    head: Head,
    /// The start of an incomplete line; of a request line, its end.
    line: Vec<u8>,
    /// Was the line too long to be kept?
    is_cut: bool,
    /// The last byte so far.
    last: u8,
    request_line_size: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    RequestLine,
    Field,
    /// So many bytes of a body, or of a chunk and its line end.
    Body {
        left: u64,
        is_chunk: bool,
    },
    ChunkSize,
    Trailer,
}

/// What the current head has said so far.
#[derive(Debug, Default)]
struct Head {
    is_http_1_0: bool,
    hosts: usize,
    length: Option<u64>,
    is_chunked: bool,
}

/// A fault, and the offset in the bytes that were read of the line in which it was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FaultAt {
    pub(super) fault: HeadFault,
    pub(super) offset: usize,
}

impl RequestFraming {
    /// The size of the last request line, or of the part that has arrived.
    pub(super) fn request_line_size(&self) -> usize {
        self.request_line_size
    }

    /// Is the next byte the first one of a request?
    pub(super) fn is_between_requests(&self) -> bool {
        self.state == State::RequestLine && self.line.is_empty()
    }

    /// Reads the next bytes of the connection.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), FaultAt> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = bytes.len() - rest.len();
            rest = match self.state {
                State::Body { left, is_chunk } => self.skip(rest, left, is_chunk),
                state => match memchr(b'\n', rest).and_then(|end| rest.split_at_checked(end + 1)) {
                    Some((line, after)) => {
                        self.measure(state, line);
                        self.end_line(line)
                            .map_err(|fault| FaultAt { fault, offset })?;
                        after
                    }
                    None => {
                        self.measure(state, rest);
                        self.keep(rest);
                        &[]
                    }
                },
            };
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        Ok(())
    }

    fn skip<'a>(&mut self, bytes: &'a [u8], left: u64, is_chunk: bool) -> &'a [u8] {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - count as u64;
        self.state = match (left, is_chunk) {
            (0, false) => State::RequestLine,
            (0, true) => State::ChunkSize,
            _ => State::Body { left, is_chunk },
        };
        bytes.get(count..).unwrap_or_default()
    }

    fn measure(&mut self, state: State, part: &[u8]) {
        if state == State::RequestLine {
            let before = if self.line.is_empty() {
                0
            } else {
                self.request_line_size
            };
            self.request_line_size = before + part.len();
        }
    }

    /// Keeps what is needed of an incomplete line.
    fn keep(&mut self, part: &[u8]) {
        if self.state == State::RequestLine {
            self.line.extend_from_slice(part);
            self.line.drain(..self.line.len().saturating_sub(KEPT));
            return;
        }
        let room = KEPT - self.line.len();
        self.is_cut |= part.len() > room;
        self.line.extend(part.iter().take(room));
    }

    /// Reads the end of a line, which may be all of it.
    fn end_line(&mut self, part: &[u8]) -> Result<(), HeadFault> {
        let before = match part {
            [.., before, _] => *before,
            _ if self.line.is_empty() => b'\n',
            _ => self.last,
        };
        if before != b'\r' {
            return Err(HeadFault::BareLineFeed);
        }
        if self.line.is_empty() {
            return self.read_line(part);
        }
        self.keep(part);
        let line = std::mem::take(&mut self.line);
        let read = self.read_line(&line);
        self.is_cut = false;
        read
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), HeadFault> {
        match self.state {
            // Empty lines before a request are allowed.
            State::RequestLine if line == b"\r\n" => {}
            State::RequestLine => {
                self.head = Head {
                    is_http_1_0: line.ends_with(b"HTTP/1.0\r\n"),
                    ..Head::default()
                };
                self.state = State::Field;
            }
            State::Field if line == b"\r\n" => self.state = self.head.check()?,
            State::Field => self.head.read_field(line, self.is_cut)?,
            State::ChunkSize => {
                let size = chunk_size(line).ok_or(HeadFault::BadChunk)?;
                self.state = match size.checked_add(2) {
                    _ if size == 0 => State::Trailer,
                    Some(left) => State::Body {
                        left,
                        is_chunk: true,
                    },
                    None => return Err(HeadFault::BadChunk),
                };
            }
            State::Trailer if line == b"\r\n" => self.state = State::RequestLine,
            State::Trailer | State::Body { .. } => {}
        }
        Ok(())
    }
}

impl Head {
    fn read_field(&mut self, line: &[u8], is_cut: bool) -> Result<(), HeadFault> {
        match line.first() {
            Some(b' ' | b'\t') => return Err(HeadFault::FoldedLine),
            Some(b'h' | b'H') if field(line, b"host:").is_some() => self.hosts += 1,
            Some(b'c' | b'C') => {
                if let Some(value) = field(line, b"content-length:") {
                    let length = number(value).filter(|_| !is_cut);
                    let length = length.ok_or(HeadFault::BadLength)?;
                    if self.length.is_some_and(|known| known != length) {
                        return Err(HeadFault::BadLength);
                    }
                    self.length = Some(length);
                }
            }
            Some(b't' | b'T') => {
                if let Some(value) = field(line, b"transfer-encoding:") {
                    let is_known = value.eq_ignore_ascii_case(b"chunked") && !is_cut;
                    if self.is_chunked || !is_known {
                        return Err(HeadFault::UnknownEncoding);
                    }
                    self.is_chunked = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a whole head. Returns what follows.
    fn check(&self) -> Result<State, HeadFault> {
        match self.hosts {
            0 if !self.is_http_1_0 => return Err(HeadFault::NoHost),
            0 | 1 => {}
            _ => return Err(HeadFault::SeveralHosts),
        }
        match (self.is_chunked, self.length) {
            (true, Some(_)) => Err(HeadFault::LengthAndEncoding),
            (true, None) => Ok(State::ChunkSize),
            (false, None | Some(0)) => Ok(State::RequestLine),
            (false, Some(left)) => Ok(State::Body {
                left,
                is_chunk: false,
            }),
        }
    }
}

/// The value of a field, if it has this name, which ends with the colon.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    text.parse().ok()
}

/// The size in the first line of a chunk.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let digits = std::str::from_utf8(line.get(..end)?).ok()?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads bytes in one piece, and in two pieces cut anywhere: the fault is the same.
    #[track_caller]
    fn check(bytes: &str, expected: Option<HeadFault>) {
        let bytes = bytes.as_bytes();
        let whole = RequestFraming::default().read(bytes);
        assert_eq!(whole.err().map(|at| at.fault), expected);
        for cut in 0..=bytes.len() {
            let mut framing = RequestFraming::default();
            let (one, two) = bytes.split_at(cut);
            let read = framing.read(one).and_then(|()| framing.read(two));
            assert_eq!(read.err().map(|at| at.fault), expected, "cut at {cut}");
        }
        // Byte by byte.
        let mut framing = RequestFraming::default();
        let fault = bytes.chunks(1).find_map(|byte| framing.read(byte).err());
        assert_eq!(fault.map(|at| at.fault), expected);
    }

    const GET: &str = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

    #[test]
    fn valid_requests_have_no_fault() {
        for request in [
            GET.to_owned(),
            GET.repeat(3),
            format!("\r\n\r\n{GET}"),
            "GET / HTTP/1.0\r\n\r\n".to_owned(),
            "GET / HTTP/1.0\r\nHost: h\r\n\r\n".to_owned(),
            format!("POST / HTTP/1.1\r\nHost: h\r\ncontent-LENGTH:  5 \r\n\r\na\n\nb\n{GET}"),
            format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n{GET}"),
            format!(
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx{GET}"
            ),
            format!(
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n\
                 3;x=y\r\n\n\n\n\r\nA\r\n0123456789\r\n0\r\nT: railer\r\n\r\n{GET}"
            ),
            format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "long".repeat(100)),
            format!(
                "GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n{GET}",
                "long".repeat(100)
            ),
            format!(
                "GET / HTTP/1.1\r\nHost: {}\r\n\r\n{GET}",
                "long".repeat(100)
            ),
            "GET / HTTP/1.1\r\nHosts: a\r\nHost: h\r\nContent-Lengths: 5\r\n\r\n".to_owned(),
        ] {
            check(&request, None);
        }
    }

    #[test]
    fn faults_are_found_wherever_the_bytes_are_cut() {
        let long = "0".repeat(200);
        for (head, fault) in [
            ("GET / HTTP/1.1\nHost: h\r\n\r\n", HeadFault::BareLineFeed),
            ("GET / HTTP/1.1\r\nHost: h\n\r\n", HeadFault::BareLineFeed),
            ("GET / HTTP/1.1\r\nHost: h\r\n\n", HeadFault::BareLineFeed),
            (
                "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
                HeadFault::BareLineFeed,
            ),
            ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", HeadFault::FoldedLine),
            (
                "GET / HTTP/1.1\r\nHost: h\r\n\tmore\r\n\r\n",
                HeadFault::FoldedLine,
            ),
            ("GET / HTTP/1.1\r\n\r\n", HeadFault::NoHost),
            ("GET / HTTP/1.1\r\nHosts: h\r\n\r\n", HeadFault::NoHost),
            (
                "GET / HTTP/1.1\r\nHost: h\r\nhost: h\r\n\r\n",
                HeadFault::SeveralHosts,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                HeadFault::LengthAndEncoding,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                HeadFault::LengthAndEncoding,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                HeadFault::BadLength,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\n",
                HeadFault::BadLength,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\n",
                HeadFault::BadLength,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n",
                HeadFault::BadLength,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                HeadFault::UnknownEncoding,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                HeadFault::UnknownEncoding,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
                HeadFault::BadChunk,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                HeadFault::BadChunk,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: x\n\r\n",
                HeadFault::BareLineFeed,
            ),
        ] {
            check(head, Some(fault));
            check(&format!("{GET}{head}"), Some(fault));
            let posted = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n\n\n\n";
            check(&format!("{posted}{head}"), Some(fault));
            let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n";
            check(&format!("{chunked}{head}"), Some(fault));
        }
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {long}5");
        let mut framing = RequestFraming::default();
        framing.read(head.as_bytes()).unwrap();
        let fault = framing.read(b"\r\n").unwrap_err();
        assert_eq!((fault.fault, fault.offset), (HeadFault::BadLength, 0));
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut framing = RequestFraming::default();
        framing.read(format!("{head}{long}").as_bytes()).unwrap();
        let fault = framing.read(b"5\r\n").unwrap_err();
        assert_eq!(fault.fault, HeadFault::BadChunk);
    }

    #[test]
    fn the_state_between_two_reads_is_known() {
        let after = |bytes: &str| {
            let mut framing = RequestFraming::default();
            framing.read(bytes.as_bytes()).unwrap();
            (framing.is_between_requests(), framing.request_line_size())
        };
        assert_eq!(after(""), (true, 0));
        assert_eq!(after(GET), (true, 16));
        assert_eq!(after("GET /lo"), (false, 7));
        assert_eq!(after("GET / HTTP/1.1\r\nHo"), (false, 16));
        let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n";
        assert_eq!(after(&format!("{post}x")), (false, 17));
        assert_eq!(after(&format!("{post}xx")), (true, 17));
        assert_eq!(after(&format!("{post}xxGET")), (false, 3));
    }

    #[test]
    fn a_fault_has_the_offset_of_its_line() {
        let at = |bytes: &str| {
            RequestFraming::default()
                .read(bytes.as_bytes())
                .unwrap_err()
                .offset
        };
        assert_eq!(at("GET / HTTP/1.1\n"), 0);
        assert_eq!(at("GET / HTTP/1.1\r\n\r\n"), 16);
        assert_eq!(at("GET / HTTP/1.1\r\nHost: h\nx"), 16);
        assert_eq!(at(&format!("{GET}GET / HTTP/1.1\n")), GET.len());
    }
}
