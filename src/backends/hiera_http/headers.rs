//! The headers of a request: defaults, authentication, and those of the level.

use base64ct::{Base64, Encoding};
use hiera_resolver::Value;
use hiera_resolver::remote::RemoteRequest;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
    USER_AGENT,
};

use super::error::FetchErrorKind;

/// The headers to send. As with Ruby's `add_field`, those of the level are added to the default ones.
pub(super) fn check(request: &RemoteRequest) -> Result<HeaderMap, FetchErrorKind> {
    let mut fields = Fields::default();
    fields.add(ACCEPT, "*/*");
    fields.add(USER_AGENT, concat!("hierad/", env!("CARGO_PKG_VERSION")));
    if request.is_set("use_auth") {
        let text = |name| match request.option(name) {
            None => Ok(String::new()),
            Some(value) => text_of(value).ok_or(FetchErrorKind::Option {
                name,
                expected: "a string",
            }),
        };
        let credentials = format!("{}:{}", text("auth_user")?, text("auth_pass")?);
        let credentials = Base64::encode_string(credentials.as_bytes());
        fields.add(AUTHORIZATION, &format!("Basic {credentials}"));
    }
    match request.option("headers") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Hash(given)) => {
            for (name, value) in given.iter() {
                fields.add_from_level(name, value)?;
            }
        }
        Some(_) => {
            return Err(FetchErrorKind::Option {
                name: "headers",
                expected: "a hash",
            });
        }
    }
    fields.into_headers()
}

/// Headers and their values, one line for each header.
#[derive(Default)]
struct Fields(Vec<(HeaderName, String)>);

impl Fields {
    fn add(&mut self, name: HeaderName, text: &str) {
        match self.0.iter_mut().find(|(header, _)| *header == name) {
            Some((_, line)) => {
                line.push_str(", ");
                line.push_str(text);
            }
            None => self.0.push((name, text.to_owned())),
        }
    }

    /// Adds a header of the level: one value or several.
    fn add_from_level(&mut self, name: &Value, value: &Value) -> Result<(), FetchErrorKind> {
        let name = text_of(name).unwrap_or_default();
        let invalid = || FetchErrorKind::Header {
            name: name.escape_debug().to_string(),
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        // The connection sets these; a wrong value would corrupt the stream.
        if header == CONTENT_LENGTH || header == TRANSFER_ENCODING {
            return Err(invalid());
        }
        let values = value.as_array().unwrap_or(std::slice::from_ref(value));
        for value in values {
            let text = text_of(value).ok_or_else(invalid)?;
            header_value(&name, &text)?;
            self.add(header.clone(), &text);
        }
        Ok(())
    }

    fn into_headers(self) -> Result<HeaderMap, FetchErrorKind> {
        let fields = self.0.into_iter().map(|(name, line)| {
            let value = header_value(name.as_str(), &line)?;
            Ok((name, value))
        });
        fields.collect()
    }
}

fn header_value(name: &str, text: &str) -> Result<HeaderValue, FetchErrorKind> {
    let mut value =
        HeaderValue::from_bytes(text.as_bytes()).map_err(|_| FetchErrorKind::Header {
            name: name.to_owned(),
        })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What Ruby's `to_s` makes of a scalar.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(format!("{number:?}")),
        Value::BigInt(number) => Some(number.to_string()),
        Value::Str(text) => Some(text.to_string()),
        Value::Symbol(name) => Some(name.to_string()),
        Value::Sensitive(inner) => text_of(inner),
        _ => None,
    }
}
