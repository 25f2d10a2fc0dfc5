//! The only unsafe code: libyaml's parser and emitter behind two safe types.
//!
//! `libyaml-rs` is a translation of the C library, pointers included. Here each of its structures gets an owner that
//! frees it, and what it points to is lent out for no longer than it lives.
#![expect(
    unsafe_code,
    reason = "libyaml-rs has a C interface, and it is wrapped here and nowhere else"
)]

mod emitter;
mod parser;

pub(crate) use emitter::{EmitError, Emitter, Quoting};
pub(crate) use parser::{Event, EventKind, Parser, SyntaxError};
