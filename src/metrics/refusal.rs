//! [`Refusal`]: why a connection or a request was refused without looking at what it asks for.

/// Why a connection or a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too many connections.
    Connections,
    /// Too many connections from one address.
    ConnectionsPerAddress,
    /// Too many requests in flight.
    RequestsInFlight,
    /// Too many bytes of bodies in flight.
    BodyBytes,
    /// Too many bytes of answers in flight.
    AnswerBytes,
    /// Too many event streams.
    EventStreams,
    /// Too many long lookups that wait.
    WaitingLookups,
    /// For a host that is not this server.
    Host,
    /// From a web page of another server.
    Origin,
    /// An encoded body.
    ContentEncoding,
    /// A head that RFC 9112 forbids.
    Head,
    /// A client that does not read its answer.
    SendTimeout,
}

impl Refusal {
    /// All reasons, in the order of the enum.
    pub(super) const ALL: [Refusal; 12] = [
        Refusal::Connections,
        Refusal::ConnectionsPerAddress,
        Refusal::RequestsInFlight,
        Refusal::BodyBytes,
        Refusal::AnswerBytes,
        Refusal::EventStreams,
        Refusal::WaitingLookups,
        Refusal::Host,
        Refusal::Origin,
        Refusal::ContentEncoding,
        Refusal::Head,
        Refusal::SendTimeout,
    ];

    /// The label of the metric. The setting of a limit is named like it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Refusal::Connections => "connections",
            Refusal::ConnectionsPerAddress => "connections_per_address",
            Refusal::RequestsInFlight => "requests_in_flight",
            Refusal::BodyBytes => "body_bytes_in_flight",
            Refusal::AnswerBytes => "answer_bytes_in_flight",
            Refusal::EventStreams => "event_streams",
            Refusal::WaitingLookups => "waiting_lookups",
            Refusal::Host => "host",
            Refusal::Origin => "origin",
            Refusal::ContentEncoding => "content_encoding",
            Refusal::Head => "head",
            Refusal::SendTimeout => "send_timeout",
        }
    }
}
