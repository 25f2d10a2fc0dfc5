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
        let chunked =
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n";
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
