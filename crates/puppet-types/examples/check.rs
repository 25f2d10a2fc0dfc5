//! Checks a YAML value against a Puppet type:
//!
//! ```text
//! $ cargo run -p puppet-types --example check -- 'Hash[String, Integer[1, 65535]]' 'https: 443'
//! ok: Hash[String, Integer[443, 443], 1, 1]
//! $ cargo run -p puppet-types --example check -- 'Hash[String, Integer[1, 65535]]' 'https: 0'
//! the value has wrong type, entry 'https' expects an Integer[1, 65535] value, got Integer[0, 0]
//! ```
#![expect(clippy::print_stdout, reason = "the output of the example")]

use std::error::Error;
use std::process::ExitCode;

use psych_yaml::Yaml;
use puppet_types::{Type, assert_instance, infer};
use puppet_values::{Hash, Value};

fn main() -> ExitCode {
    match check(std::env::args().skip(1).collect()) {
        Ok(ty) => {
            println!("ok: {ty}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The type of the value, if it fits.
fn check(arguments: Vec<String>) -> Result<Type, Box<dyn Error>> {
    let [ty, yaml] = <[String; 2]>::try_from(arguments).map_err(|_| "usage: check TYPE YAML")?;
    let ty = Type::parse(&ty)?;
    let value = convert(psych_yaml::parse(yaml.as_bytes())?.unwrap_or(Yaml::Null));
    assert_instance("the value", &ty, &value)?;
    Ok(infer(&value))
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
