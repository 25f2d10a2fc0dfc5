//! Settings from file and variables, across topics.

use super::*;

#[test]
fn variables_override_the_file() {
    let mut settings: Settings =
        serde_yaml::from_str("limits: {max_keys: 5}\nlog: {format: text}").unwrap();
    let variable = |name: &str| match name {
        "HIERAD_MAX_KEYS" => Some("7".to_owned()),
        "HIERAD_LOG_FORMAT" => Some("json".to_owned()),
        "HIERAD_REMOTE_TTL_S" => Some("0".to_owned()),
        "HIERAD_REMOTE_STALE_S" => Some("1".to_owned()),
        "HIERAD_REMOTE_CACHE_ENTRIES" => Some("2".to_owned()),
        "HIERAD_REMOTE_CACHE_BYTES" => Some("3".to_owned()),
        "HIERAD_REMOTE_MAX_DOCUMENT_SIZE" => Some("4".to_owned()),
        "HIERAD_REMOTE_MAX_REQUESTS" => Some("5".to_owned()),
        "HIERAD_REMOTE_MAX_REQUESTS_PER_SERVER" => Some("6".to_owned()),
        "HIERAD_REMOTE_DEADLINE_S" => Some("7".to_owned()),
        "HIERAD_REMOTE_BREAKER_FAILURES" => Some("8".to_owned()),
        "HIERAD_REMOTE_BREAKER_MAX_PAUSE_S" => Some("9".to_owned()),
        _ => None,
    };
    settings.apply_variables(variable).unwrap();
    let remote = &settings.remote;
    assert_eq!((remote.ttl_s, remote.stale_s), (0, 1));
    assert_eq!((remote.cache_entries, remote.cache_bytes), (2, 3));
    assert_eq!((remote.max_document_size, remote.max_requests), (4, 5));
    assert_eq!((remote.max_requests_per_server, remote.deadline_s), (6, 7));
    assert_eq!(
        (remote.breaker_failures, remote.breaker_max_pause_s),
        (8, 9)
    );
    assert_eq!(settings.limits.max_keys, 7);
    assert_eq!(settings.log.format, LogFormat::Json);
}

#[test]
fn settings_of_loading_are_read_from_file_and_variables() {
    let text = "limits: {max_files: 5}\nreload: {follow_links: inside, write_timeout_ms: 7}";
    let mut settings: Settings = serde_yaml::from_str(text).unwrap();
    let shown = |settings: &Settings| {
        let reload = &settings.reload;
        (
            settings.limits.max_files,
            reload.follow_links,
            reload.write_timeout_ms,
        )
    };
    assert_eq!(shown(&settings), (5, FollowLinks::Inside, 7));
    let variable = |name: &str| match name {
        "HIERAD_MAX_FILES" => Some("6".to_owned()),
        "HIERAD_FOLLOW_LINKS" => Some("none".to_owned()),
        "HIERAD_WRITE_TIMEOUT_MS" => Some("8".to_owned()),
        _ => None,
    };
    settings.apply_variables(variable).unwrap();
    assert_eq!(shown(&settings), (6, FollowLinks::None, 8));
    let variable = |name: &str| (name == "HIERAD_FOLLOW_LINKS").then(|| "some".to_owned());
    let error = settings.apply_variables(variable).unwrap_err();
    assert_eq!(
        error.to_string(),
        "HIERAD_FOLLOW_LINKS must be all, inside or none, not `some`"
    );
}

#[test]
fn settings_of_the_interface_are_read_from_file_and_variables() {
    let text = "http: {cors_origins: [\"http://a\"]}\nlog: {access: true}";
    let mut settings: Settings = serde_yaml::from_str(text).unwrap();
    assert_eq!(settings.http.cors_origins.to_headers(), ["http://a"]);
    assert!(settings.log.access);
    let variable = |name: &str| match name {
        "HIERAD_CORS_ORIGINS" => Some("https://b,https://c".to_owned()),
        "HIERAD_LOG_ACCESS" => Some("false".to_owned()),
        _ => None,
    };
    settings.apply_variables(variable).unwrap();
    let origins = settings.http.cors_origins.to_headers();
    assert_eq!(origins, ["https://b", "https://c"]);
    assert!(!settings.log.access);
}

#[test]
fn a_misspelt_setting_is_rejected_by_name() {
    let error = serde_yaml::from_str::<Settings>("limits: {max_kees: 5}")
        .unwrap_err()
        .to_string();
    assert!(error.contains("max_kees"), "{error}");
}

#[test]
fn an_invalid_variable_is_named() {
    let variable = |name: &str| (name == "HIERAD_MAX_KEYS").then(|| "many".to_owned());
    let error = Settings::default()
        .apply_variables(variable)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "HIERAD_MAX_KEYS must be a number, not `many`");
}

#[test]
fn settings_of_connections_are_read_from_file_and_variables() {
    let text = "connections: {max_connections: 5, send_timeout_ms: 7}\nhttp: {allowed_hosts: [a.example.com]}";
    let mut settings: Settings = serde_yaml::from_str(text).unwrap();
    assert_eq!(settings.connections.max_connections, 5);
    assert_eq!(settings.connections.send_timeout_ms, 7);
    assert!(settings.http.allowed_hosts.contains("a.example.com"));
    let names = [
        "HIERAD_MAX_CONNECTIONS",
        "HIERAD_MAX_CONNECTIONS_PER_ADDRESS",
        "HIERAD_MAX_REQUESTS_IN_FLIGHT",
        "HIERAD_MAX_BODY_BYTES_IN_FLIGHT",
        "HIERAD_MAX_ANSWER_BYTES_IN_FLIGHT",
        "HIERAD_MAX_EVENT_STREAMS",
        "HIERAD_EVENT_STREAM_MAX_AGE_S",
        "HIERAD_MAX_HEAD_SIZE",
        "HIERAD_SEND_TIMEOUT_MS",
    ];
    // Each variable has another value.
    let variable = |name: &str| match names.iter().position(|known| *known == name) {
        Some(index) => Some(index.to_string()),
        None => (name == "HIERAD_ALLOWED_HOSTS").then(|| "*.b.example.com".to_owned()),
    };
    settings.apply_variables(variable).unwrap();
    let shown = format!("{:?}", settings.connections);
    let numbers: Vec<&str> = shown
        .split(": ")
        .skip(1)
        .map(|rest| rest.split([',', ' ']).next().unwrap())
        .collect();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    assert!(settings.http.allowed_hosts.contains("x.b.example.com"));
    assert!(!settings.http.allowed_hosts.contains("a.example.com"));
    let variable = |name: &str| (name == "HIERAD_ALLOWED_HOSTS").then(|| "a:80".to_owned());
    let error = format!("{:#}", settings.apply_variables(variable).unwrap_err());
    assert!(
        error.starts_with("HIERAD_ALLOWED_HOSTS: `a:80` is not a host"),
        "{error}"
    );
}
