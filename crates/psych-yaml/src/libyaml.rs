//! The only unsafe code: libyaml's parser and emitter behind two safe types.
//!
//! `libyaml-rs` is a translation of the C library, with its pointers. Here each of its structures has an owner that
//! frees it, and borrows of its memory do not outlive it.
#![expect(
    unsafe_code,
    reason = "libyaml-rs has a C interface, which is only wrapped here"
)]

mod emitter;
mod parser;

pub(crate) use emitter::{EmitError, Emitter, Quoting};
pub(crate) use parser::{Event, EventKind, Parser, SyntaxError};
