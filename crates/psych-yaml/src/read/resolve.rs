//! The values of scalars, and errors about them.

use crate::error::{Limit, NumberKind, Problem, ReadError};
use crate::ruby::{integer_to_f, parse_float};
use crate::scalar::{INTEGER_LENGTH, Resolved, Unresolvable, resolve};
use crate::tag::Refusal;
use crate::{Mark, Scalar};

pub(super) fn plain(text: &str, mark: Mark) -> Result<Scalar<'_>, ReadError> {
    let problem = match resolve(text) {
        Ok(Resolved::Scalar(scalar)) => return Ok(scalar),
        Ok(Resolved::Time) => class("Time"),
        Ok(Resolved::Date) => class("Date"),
        Err(Unresolvable::Number { text, kind }) => Problem::Number { text, kind },
        Err(Unresolvable::TooLong) => Problem::Limit(Limit::IntegerLength(INTEGER_LENGTH)),
    };
    Err(ReadError::new(problem, mark))
}

/// `Kernel#Float` of a scalar.
pub(super) fn float(scalar: Scalar<'_>, mark: Mark) -> Result<f64, ReadError> {
    let problem = match scalar {
        Scalar::Float(number) => return Ok(number),
        #[expect(clippy::cast_precision_loss, reason = "Ruby rounds too")]
        Scalar::Integer(number) => return Ok(number as f64),
        Scalar::BigInteger(number) => return Ok(integer_to_f(&number)),
        Scalar::String(text) => match parse_float(text) {
            Some(number) => return Ok(number),
            None => Problem::Number {
                text: text.to_owned(),
                kind: NumberKind::Float,
            },
        },
        Scalar::Null => Problem::NotAFloat { what: "nil" },
        Scalar::Bool(true) => Problem::NotAFloat { what: "true" },
        Scalar::Bool(false) => Problem::NotAFloat { what: "false" },
        Scalar::Symbol(_) | Scalar::Bytes(_) => Problem::NotAFloat { what: "Symbol" },
    };
    Err(ReadError::new(problem, mark))
}

fn class(class: &str) -> Problem {
    Problem::Class {
        class: class.to_owned(),
    }
}

pub(super) fn refused(refusal: Refusal<'_>, tag: Option<&str>, mark: Mark) -> ReadError {
    let problem = match refusal {
        Refusal::Class(name) => class(name),
        Refusal::Misplaced => Problem::Tag {
            tag: tag.unwrap_or_default().to_owned(),
        },
    };
    ReadError::new(problem, mark)
}

pub(super) fn limit(limit: Limit, mark: Mark) -> ReadError {
    ReadError::new(Problem::Limit(limit), mark)
}
