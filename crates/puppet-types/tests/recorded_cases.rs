//! Types and conversions, compared with the real Puppet (`cases/types.json`, recorded by `cases/record_types.rb`).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a broken case file should stop the test"
)]

use puppet_types::convert;
use puppet_types::{Type, assert_instance};
use puppet_values::{Hash, Rich, Value};
use serde_json::{Value as Json, json};

/// Errors of these classes are Ruby's, about Puppet's code. Their messages are not compared.
const RUBY_ERRORS: [&str; 8] = [
    "NoMethodError",
    "NameError",
    "TypeError",
    "IndexError",
    "RegexpError",
    "URI::InvalidURIError",
    "URI::InvalidComponentError",
    "Puppet::ParseErrorWithIssue",
];

#[test]
fn answers_match_puppet() {
    let cases: Vec<Json> = serde_json::from_str(include_str!("cases/types.json")).unwrap();
    let mut differences = Vec::new();
    for case in &cases {
        let (ask, expected) = (&case["ask"], &case["answer"]);
        let actual = answer(ask);
        let is_same = match (expected.get("error"), actual.get("error")) {
            (Some(expected_text), Some(text)) => {
                let class = expected["class"].as_str().unwrap();
                // Puppet parses more of its language, so the messages about invalid types differ.
                ask.get("parse").is_some() || RUBY_ERRORS.contains(&class) || expected_text == text
            }
            _ => *expected == actual,
        };
        if !is_same {
            differences.push(format!("{ask}\n  Puppet: {expected}\n  here:   {actual}"));
        }
    }
    assert!(cases.len() > 1000);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Answers a question as `record_types.rb` does.
fn answer(ask: &Json) -> Json {
    match try_answer(ask) {
        Ok(answer) => answer,
        Err(error) => json!({ "error": error }),
    }
}

fn try_answer(ask: &Json) -> Result<Json, String> {
    let parse =
        |text: &Json| Type::parse(text.as_str().unwrap()).map_err(|error| error.to_string());
    if let Some(text) = ask.get("parse") {
        return Ok(json!({ "type": parse(text)?.to_string() }));
    }
    if let Some(values) = ask.get("text") {
        let Value::Array(values) = decode(values)? else {
            panic!("text is a list")
        };
        return Ok(json!({ "text": convert::program_text(values.items()) }));
    }
    if let Some(text) = ask.get("check") {
        let ty = parse(text)?;
        let value = decode(&ask["value"])?;
        let is_instance = ty.is_instance(&value);
        return Ok(match assert_instance("Found value", &ty, &value) {
            Ok(()) => json!({ "instance": is_instance }),
            Err(mismatch) => json!({ "instance": is_instance, "mismatch": mismatch.to_string() }),
        });
    }
    let ty = match &ask["convert"] {
        text @ Json::String(_) => Value::from(parse(text)?),
        other => decode(other)?,
    };
    let empty = Vec::new();
    let arguments = ask.get("args").and_then(Json::as_array).unwrap_or(&empty);
    let arguments = arguments
        .iter()
        .map(decode)
        .collect::<Result<Vec<_>, _>>()?;
    let made = convert::new_instance_of(&ty, decode(&ask["value"])?, &arguments);
    Ok(json!({ "result": encode(&made.map_err(|error| error.to_string())?) }))
}

fn decode(json: &Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => Value::str(text),
        Json::Array(items) => Value::array(items.iter().map(decode).collect::<Result<_, _>>()?),
        Json::Object(form) => {
            let text = |name: &str| form.get(name).and_then(Json::as_str);
            if let Some(Json::Array(pairs)) = form.get("$map") {
                let pairs: Result<Hash, String> = pairs
                    .iter()
                    .map(|pair| Ok((decode(&pair[0])?, decode(&pair[1])?)))
                    .collect();
                Value::hash(pairs?)
            } else if let Some(number) = text("$int") {
                Value::integer(number.parse().unwrap())
            } else if let Some(number) = text("$float") {
                Value::Float(match number {
                    "NaN" => f64::NAN,
                    "Infinity" => f64::INFINITY,
                    "-Infinity" => f64::NEG_INFINITY,
                    _ => -0.0,
                })
            } else if let Some(name) = text("$sym") {
                Value::Symbol(name.into())
            } else if let Some(hex) = text("$bytes") {
                let bytes = (0..hex.len() / 2)
                    .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap());
                Value::Bytes(bytes.collect::<Vec<u8>>().into())
            } else if let Some(ty) = text("$type") {
                Value::from(Type::parse(ty).map_err(|error| error.to_string())?)
            } else if let Some(ty) = text("$new") {
                let ty = Type::parse(ty).map_err(|error| error.to_string())?;
                let arguments = form["args"].as_array().unwrap();
                let arguments = arguments
                    .iter()
                    .map(decode)
                    .collect::<Result<Vec<_>, _>>()?;
                convert::new_instance(&ty, arguments[0].clone(), &arguments[1..])
                    .map_err(|error| error.to_string())?
            } else {
                Value::Sensitive(decode(&form["$sensitive"])?.into())
            }
        }
    })
}

fn encode(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => json!(flag),
        Value::Int(number) if number.unsigned_abs() < 1 << 52 => json!(number),
        Value::Int(number) => json!({ "$int": number.to_string() }),
        Value::BigInt(number) => json!({ "$int": number.to_string() }),
        Value::Float(number) if number.is_nan() => json!({ "$float": "NaN" }),
        Value::Float(number) if number.is_infinite() && *number > 0.0 => {
            json!({ "$float": "Infinity" })
        }
        Value::Float(number) if number.is_infinite() => json!({ "$float": "-Infinity" }),
        Value::Float(number) if *number == 0.0 && number.is_sign_negative() => {
            json!({ "$float": "-0.0" })
        }
        Value::Float(number) => json!(number),
        Value::Str(text) => json!(text.as_str()),
        Value::Bytes(bytes) => {
            json!({ "$bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
        }
        Value::Symbol(name) => json!({ "$sym": name.as_str() }),
        Value::Array(array) => Json::Array(array.items().iter().map(encode).collect()),
        Value::Hash(hash) => {
            json!({ "$map": hash.iter().map(|(key, value)| json!([encode(key), encode(value)])).collect::<Vec<_>>() })
        }
        Value::Sensitive(inner) => json!({ "$sensitive": encode(inner) }),
        Value::Rich(rich) if **rich == Rich::Default => json!({ "$sym": "default" }),
        Value::Rich(rich) => {
            json!({ "$rich": rich.type_name(), "text": convert::stringify(value) })
        }
        Value::Template(_) => panic!("no templates here"),
    }
}
