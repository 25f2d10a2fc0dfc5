//! Requests as `GET /lookup/{key}?…`, as far as a query can express them.

use recorded_cases::Json;

/// The path and query; `None` if they cannot express the request.
pub(super) fn of(request: &Json) -> Option<String> {
    let key = request
        .get("key")?
        .as_text()
        .filter(|key| !key.is_empty() && !key.contains('/'))?;
    let mut pairs = Vec::new();
    for (name, value) in request.members() {
        match (name.as_str(), value) {
            ("key", _) => {}
            ("environment" | "node" | "merge", Json::Text(text)) => {
                pairs.push((name.clone(), text.clone()))
            }
            ("facts", Json::Object(facts)) if facts.is_empty() => {}
            ("facts", facts) => flatten("facts", facts, &mut pairs)?,
            _ => return None,
        }
    }
    let query: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", quoted(name), quoted(value)))
        .collect();
    let mark = if query.is_empty() { "" } else { "?" };
    Some(format!("/lookup/{}{mark}{}", quoted(key), query.join("&")))
}

/// A string with everything except letters, digits and `_.-~` percent-encoded.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'_' | b'.' | b'-' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Adds a pair for each fact. In a query, facts are strings, and their names have no dots.
fn flatten(prefix: &str, value: &Json, pairs: &mut Vec<(String, String)>) -> Option<()> {
    match value {
        Json::Text(text) => pairs.push((prefix.to_owned(), text.clone())),
        Json::Object(members) if !members.is_empty() => {
            for (name, inner) in members {
                if name.contains('.') {
                    return None;
                }
                flatten(&format!("{prefix}.{name}"), inner, pairs)?;
            }
        }
        _ => return None,
    }
    Some(())
}
