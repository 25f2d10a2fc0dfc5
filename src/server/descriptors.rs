//! File descriptors: connections leave enough of them for files and for requests to other servers.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::{ConnectionSettings, RemoteSettings};

/// Descriptors for files, watches, the listener and connections that are being turned away.
const RESERVE: usize = 64;

/// Raises the limit on open files as far as necessary and possible. If that is not enough, lowers the limits on
/// connections in proportion.
pub(super) fn fit_connections(
    settings: &ConnectionSettings,
    remote: &RemoteSettings,
) -> ConnectionSettings {
    let reserve = RESERVE.saturating_add(remote.max_requests);
    let limit = raise_limit(settings.max_connections.saturating_add(reserve));
    let room = limit - reserve.min(limit / 2);
    if room >= settings.max_connections {
        return settings.clone();
    }
    tracing::warn!(
        "the limit on open files is {limit}: at most {room} connections instead of {} (`connections.max_connections`)",
        settings.max_connections
    );
    scale(settings, room)
}

/// Raises the soft limit to this number, or to the hard limit. Returns the soft limit.
fn raise_limit(wanted: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
    let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let limit = match current {
        Some(current) if current < raised => {
            let new = Rlimit {
                current: Some(raised),
                maximum,
            };
            setrlimit(Resource::Nofile, new).map_or(current, |()| raised)
        }
        Some(current) => current,
        None => u64::MAX,
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The same settings for fewer connections: the parts that one address and event streams may have stay the same.
fn scale(settings: &ConnectionSettings, max_connections: usize) -> ConnectionSettings {
    let part = |number: usize| {
        let part = number.saturating_mul(max_connections) / settings.max_connections.max(1);
        part.max(1)
    };
    ConnectionSettings {
        max_connections,
        max_connections_per_address: part(settings.max_connections_per_address),
        max_event_streams: part(settings.max_event_streams),
        ..settings.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_connections_stay_the_same() {
        let settings = ConnectionSettings {
            max_connections: 1000,
            max_connections_per_address: 500,
            max_event_streams: 100,
            ..ConnectionSettings::default()
        };
        let scaled = scale(&settings, 200);
        assert_eq!(scaled.max_connections, 200);
        assert_eq!(scaled.max_connections_per_address, 100);
        assert_eq!(scaled.max_event_streams, 20);
        assert_eq!(scaled.max_head_size, settings.max_head_size);
        assert_eq!(scale(&settings, 1).max_event_streams, 1);
    }
}
