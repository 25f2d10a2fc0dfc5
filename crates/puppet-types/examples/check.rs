//! Checks a YAML value against a Puppet type:
//!
//! ```text
//! $ cargo run -p puppet-types --example check -- 'Hash[String, Integer[1, 65535]]' 'https: 443'
//! ok: Struct[{'https' => Integer[443, 443]}]
//! $ cargo run -p puppet-types --example check -- 'Hash[String, Integer[1, 65535]]' 'https: 0'
//! Error: the value has wrong type, entry 'https' expects an Integer[1, 65535] value, got Integer[0, 0]
//! ```
#![expect(clippy::print_stdout, reason = "the output of the example")]

use std::error::Error;

use psych_yaml::Yaml;
use puppet_types::{Type, assert_instance, infer};
use puppet_values::{Hash, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(ty), Some(yaml)) = (arguments.next(), arguments.next()) else {
        return Err("usage: check TYPE YAML".into());
    };
    let ty = Type::parse(&ty)?;
    let value = convert(psych_yaml::parse(yaml.as_bytes())?.unwrap_or(Yaml::Null));
    assert_instance("the value", &ty, &value)?;
    println!("ok: {}", infer(&value));
    Ok(())
}

fn convert(yaml: Yaml) -> Value {
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(flag) => Value::Bool(flag),
        Yaml::Integer(number) => Value::Int(number),
        Yaml::BigInteger(number) => Value::integer(number),
        Yaml::Float(number) => Value::Float(number),
        Yaml::String(text) => Value::str(text),
        Yaml::Bytes(bytes) => Value::Bytes(bytes.into()),
        Yaml::Symbol(name) => Value::Symbol(name.into()),
        Yaml::Sequence(elements) => Value::array(elements.into_iter().map(convert).collect()),
        Yaml::Mapping(entries) => {
            let entries = entries.into_iter();
            let hash: Hash = entries
                .map(|(key, value)| (convert(key), convert(value)))
                .collect();
            Value::hash(hash)
        }
    }
}
