//! Scalars of YAML as values.

use std::sync::Arc;

use psych_yaml::Scalar;

use crate::Value;

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(flag) => Value::Bool(flag),
            Scalar::Integer(number) => Value::Int(number),
            Scalar::BigInteger(number) => Value::integer(number),
            Scalar::Float(number) => Value::Float(number),
            Scalar::String(text) => Value::str(text),
            Scalar::Bytes(bytes) => Value::Bytes(Arc::new(bytes.to_vec())),
            Scalar::Symbol(name) => Value::Symbol(name.into()),
        }
    }
}
