//! [`Admission`]: decides from the head of a request, before its body is read, whether it is answered.

use axum::http::request::Parts;

use crate::http::error::ApiError;

/// A rule that every request must satisfy.
pub(crate) trait Admission: std::fmt::Debug + Send + Sync {
    /// Admits a request, or returns the error to reject it with.
    fn admit(&self, head: &Parts) -> Result<Admitted, ApiError>;
}

/// A request that was admitted. What the rule learned about the caller belongs here.
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
