//! Values → JSON text, for responses and for `--render-as json`.
//!
//! Not by `serde_json`, which cannot write integers beyond 64 bits, keys that are numbers, or values that have no JSON
//! form. The latter become the string that Puppet's `String()` returns; a Sensitive is unwrapped, and the caller flags
//! it. Strings are scanned sixteen bytes at a time, since writing them dominates the cost of a response.

use hiera_resolver::{Hash, Value};
use puppet_types::convert;
use wide::u8x16;

/// Appends a value.
pub fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::BigInt(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) if number.is_finite() => write_float(*number, out),
        Value::Str(text) => write_text(text, out),
        Value::Template(template) => write_text(template.source(), out),
        Value::Bytes(bytes) => write_text(&String::from_utf8_lossy(bytes), out),
        Value::Symbol(name) if name == "undef" => out.extend_from_slice(b"null"),
        Value::Symbol(name) => write_text(name, out),
        Value::Array(array) => {
            out.push(b'[');
            for (index, item) in array.items().iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Hash(hash) => write_hash(hash, out),
        Value::Sensitive(inner) => write_value(inner, out),
        Value::Float(_) | Value::Rich(_) => write_text(&convert::stringify(value), out),
    }
}

/// Appends a hash.
pub fn write_hash(hash: &Hash, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in hash.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match key {
            Value::Str(text) => write_text(text, out),
            Value::Int(_) | Value::BigInt(_) | Value::Float(_) => {
                let mut text = String::new();
                puppet_values::ruby_text::to_s(key, &mut text);
                write_text(&text, out);
            }
            other => write_text(&convert::stringify(other), out),
        }
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

/// Writes a float as Ruby does, which is valid JSON and always recognizable as a float.
fn write_float(number: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(psych_yaml::ruby::float_to_s(number).as_bytes());
}

/// Appends a string, with quotes and escapes.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    loop {
        let end = end_of_plain(bytes, start);
        out.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        match bytes.get(end) {
            None => break,
            Some(b'"') => out.extend_from_slice(b"\\\""),
            Some(b'\\') => out.extend_from_slice(b"\\\\"),
            Some(b'\n') => out.extend_from_slice(b"\\n"),
            Some(b'\r') => out.extend_from_slice(b"\\r"),
            Some(b'\t') => out.extend_from_slice(b"\\t"),
            Some(other) => out.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
        }
        start = end + 1;
    }
    out.push(b'"');
}

/// The offset of the next quote, backslash or control character in a JSON string; or its end.
#[inline]
pub(crate) fn end_of_plain(bytes: &[u8], mut offset: usize) -> usize {
    const QUOTES: u8x16 = u8x16::new([b'"'; 16]);
    const BACKSLASHES: u8x16 = u8x16::new([b'\\'; 16]);
    const LAST_CONTROLS: u8x16 = u8x16::new([0x1f; 16]);
    loop {
        let rest = bytes.get(offset..).unwrap_or_default();
        let chunk = match rest.first_chunk() {
            Some(chunk) => *chunk,
            // Padded with quotes, so that the end is found as one.
            None => {
                let mut chunk = [b'"'; 16];
                for (to, from) in chunk.iter_mut().zip(rest) {
                    *to = *from;
                }
                chunk
            }
        };
        let chunk = u8x16::new(chunk);
        let controls = chunk.min(LAST_CONTROLS).simd_eq(chunk);
        let ends = chunk.simd_eq(QUOTES) | chunk.simd_eq(BACKSLASHES) | controls;
        let found = ends.to_bitmask();
        if found != 0 {
            return offset + found.trailing_zeros() as usize;
        }
        offset += 16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expected: &str) {
        let value = hiera_resolver::data::read_yaml(yaml.as_bytes(), &mut Default::default())
            .unwrap()
            .unwrap();
        let mut out = Vec::new();
        write_value(&value, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn values_keep_their_kind_and_order() {
        check(
            "{b: 1, a: [1.0, 1.0e+20, ~, true], 5: x}",
            r#"{"b":1,"a":[1.0,1.0e+20,null,true],"5":"x"}"#,
        );
        check(
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        );
        check(r#""q\"\\\n\x01ü""#, r#""q\"\\\n\u0001ü""#);
    }
}
