//! [`CorsOrigins`]: the origins of web pages that may send requests.

use axum::http::{HeaderValue, Uri};
use serde::Deserialize;

/// Origins such as `https://explorer.example.com`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(try_from = "Vec<String>")]
pub struct CorsOrigins {
    // Invariant: each is a scheme, a host and perhaps a port, as browsers send them.
    origins: Vec<HeaderValue>,
}

/// A text that is not an origin.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` is not an origin; expected a scheme and a host, such as `https://explorer.example.com:8443`"
)]
pub struct CorsOriginError {
    text: String,
}

impl CorsOrigins {
    /// Is no origin allowed?
    pub(crate) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Is this value of `Origin` allowed?
    pub(crate) fn contains(&self, origin: &HeaderValue) -> bool {
        self.origins.contains(origin)
    }

    /// The values of `Origin` that are allowed.
    pub(crate) fn to_headers(&self) -> Vec<HeaderValue> {
        self.origins.clone()
    }
}

impl TryFrom<Vec<String>> for CorsOrigins {
    type Error = CorsOriginError;

    fn try_from(texts: Vec<String>) -> Result<Self, CorsOriginError> {
        let origins = texts.into_iter().map(|text| match to_header(&text) {
            Some(origin) => Ok(origin),
            None => Err(CorsOriginError { text }),
        });
        Ok(CorsOrigins {
            origins: origins.collect::<Result<_, _>>()?,
        })
    }
}

/// From a variable: origins separated by commas.
impl TryFrom<&str> for CorsOrigins {
    type Error = CorsOriginError;

    fn try_from(text: &str) -> Result<Self, CorsOriginError> {
        CorsOrigins::try_from(super::variables::split_list(text))
    }
}

/// `*` is rejected: it would open the server to every page that an operator visits. Agents send no `Origin`.
fn to_header(text: &str) -> Option<HeaderValue> {
    let uri: Uri = text.parse().ok()?;
    let origin = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
    let is_origin = origin == text && !text.contains('@') && text == text.to_ascii_lowercase();
    HeaderValue::from_str(text).ok().filter(|_| is_origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_taken_as_browsers_send_them() {
        for text in ["http://localhost:3000", "https://a.example.com"] {
            let origins = CorsOrigins::try_from(vec![text.to_owned()]).unwrap();
            assert_eq!(origins.to_headers(), [text]);
        }
        let from_variable = CorsOrigins::try_from("http://a, https://b:1,").unwrap();
        assert_eq!(from_variable.to_headers(), ["http://a", "https://b:1"]);
        assert!(CorsOrigins::try_from("").unwrap().is_empty());
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "*",
            "a.example.com",
            "https://a/",
            "https://a/b",
            "HTTPS://a",
            "https://u@a",
        ] {
            let error = CorsOrigins::try_from(vec![text.to_owned()]).unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
