//! [`Admission`]: decides from the head of a request, before its body is read, whether it is answered.

use axum::http::request::Parts;

use crate::http::error::ApiError;

/// A rule that every request is held to.
pub(crate) trait Admission: std::fmt::Debug + Send + Sync {
    /// Lets a request pass, or says with what it is refused.
    fn admit(&self, head: &Parts) -> Result<Admitted, ApiError>;
}

/// A request that passed. What the rule found out about the caller belongs in here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted;

/// Admits every request.
#[derive(Debug)]
pub(crate) struct Everyone;

impl Admission for Everyone {
    fn admit(&self, _head: &Parts) -> Result<Admitted, ApiError> {
        Ok(Admitted)
    }
}
