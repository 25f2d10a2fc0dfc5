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
mod tests;
