//! A lookup between its source and its answer, the same for `POST /lookup`, `GET /lookup/{key}` and `hierad lookup`.
//!
//! Each of them fills in a [`RawLookupRequest`]; checking it returns a [`LookupRequest`], which contains no mistakes any
//! more. [`with_remote_answers`] runs it on a tree, and again with every answer of another server that it needs.

mod remote_answers;
mod request;
mod run;

pub(crate) use self::remote_answers::{
    NeedsRemote, RemoteAnswers, RemoteAnswersError, RemoteSource, with_remote_answers,
};
pub(crate) use self::request::{
    DEFAULT_ENVIRONMENT, LookupRequest, NodeScope, RawLookupRequest, RequestError, RequestedKeys,
};
