use hiera_resolver::Value;

use super::*;
use crate::backends::hiera_http::error::FetchErrorKind;

fn request(number: usize) -> Arc<RemoteRequest> {
    Arc::new(RemoteRequest {
        function: "hiera_http",
        uri: format!("http://host/{number}"),
        options: Value::Null,
    })
}

fn found(size: usize) -> FetchResult {
    Ok(Document {
        value: Some(Value::Int(1)),
        size,
    })
}

fn failed(status: u16) -> FetchResult {
    Err(FetchError {
        uri: "http://host/".to_owned(),
        kind: FetchErrorKind::Status { status },
    })
}

fn cache() -> Cache {
    Cache::new(&RemoteSettings {
        cache_entries: 3,
        ..RemoteSettings::default()
    })
}

fn is_consistent(cache: &Cache) -> bool {
    let sizes: usize = cache.entries.values().map(CacheEntry::size).sum();
    let ages = cache
        .by_age
        .iter()
        .all(|(order, request)| cache.entries[request].order == *order);
    sizes == cache.total_size && ages && cache.by_age.len() == cache.entries.len()
}

#[test]
fn the_oldest_entry_is_evicted_first() {
    let (mut cache, now) = (cache(), Instant::now());
    for number in [0, 1, 2, 0, 3] {
        cache.record(&request(number), found(10), now);
        assert!(is_consistent(&cache));
    }
    let is_fresh = |number| matches!(cache.state(&request(number), now), CacheState::Fresh(Ok(_)));
    assert_eq!(
        [is_fresh(0), is_fresh(1), is_fresh(2), is_fresh(3)],
        [true, false, true, true]
    );
}

#[test]
fn the_total_size_of_documents_is_limited() {
    let (mut cache, now) = (cache(), Instant::now());
    cache.max_total_size = 100;
    for number in 0..3 {
        cache.record(&request(number), found(60), now);
        assert_eq!((cache.len(), cache.total_size), (1, 60));
    }
    cache.record(&request(9), found(101), now);
    assert_eq!((cache.len(), cache.total_size), (0, 0));
    assert!(is_consistent(&cache));
}

#[test]
fn a_document_expires_and_is_served_stale_while_its_server_fails() {
    let (mut cache, start) = (cache(), Instant::now());
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    cache.record(&request(0), found(1), start);
    assert!(matches!(
        cache.state(&request(0), at(29)),
        CacheState::Fresh(Ok(_))
    ));
    assert!(matches!(
        cache.state(&request(0), at(30)),
        CacheState::Missing
    ));
    cache.record(&request(0), failed(500), at(40));
    assert!(matches!(
        cache.state(&request(0), at(40)),
        CacheState::Fresh(Err(_))
    ));
    assert!(matches!(
        cache.state(&request(0), at(41)),
        CacheState::Failing(_)
    ));
    assert_eq!(
        cache.stale(&request(0), at(41)).unwrap().1,
        Duration::from_secs(41)
    );
    assert!(matches!(
        cache.state(&request(0), at(3630)),
        CacheState::Missing
    ));
    assert!(cache.stale(&request(0), at(3630)).is_none());
    assert!(is_consistent(&cache));
}

#[test]
fn a_document_that_its_server_withdrew_is_not_served() {
    let (mut cache, start) = (cache(), Instant::now());
    cache.record(&request(0), found(1), start);
    cache.record(&request(0), failed(404), start);
    assert!(cache.stale(&request(0), start).is_none());
    assert_eq!((cache.len(), cache.total_size), (1, 0));
}

#[test]
fn a_request_is_logged_once_a_minute() {
    let (mut cache, start) = (cache(), Instant::now());
    cache.record(&request(0), failed(500), start);
    let due = [0, 1, 59, 60, 61].map(|seconds| {
        let now = start + Duration::from_secs(seconds);
        cache.record(&request(0), failed(500), now);
        cache.should_log(&request(0), now)
    });
    assert_eq!(due, [true, false, false, true, false]);
}
