//! Values → YAML, JSON or text for the terminal, as Ruby writes them.

use hiera_resolver::Value;
use psych_yaml::Writer;
use puppet_types::convert;
use puppet_values::ruby_text;

use crate::cli::arguments::RenderAs;
use crate::json::write_value;

/// A value in an output format.
pub(super) fn render(value: &Value, format: RenderAs) -> anyhow::Result<String> {
    Ok(match format {
        RenderAs::Yaml => {
            let mut writer = Writer::new();
            write_yaml(value, &mut writer);
            writer.finish()?
        }
        RenderAs::Json => {
            let mut out = Vec::new();
            write_value(value, &mut out);
            out.push(b'\n');
            String::from_utf8(out)?
        }
        RenderAs::S => {
            let mut text = String::new();
            ruby_text::to_s(value, &mut text);
            text.push('\n');
            text
        }
    })
}

fn write_yaml(value: &Value, writer: &mut Writer) {
    match value {
        Value::Null => writer.null(),
        Value::Bool(flag) => writer.bool(*flag),
        Value::Int(number) => writer.integer(*number),
        Value::BigInt(number) => writer.big_integer(number),
        Value::Float(number) => writer.float(*number),
        Value::Str(text) => writer.string(text),
        Value::Template(template) => writer.string(template.source()),
        Value::Bytes(bytes) => writer.bytes(bytes),
        Value::Symbol(name) => writer.symbol(name),
        Value::Array(array) => {
            writer.begin_sequence();
            for item in array.items() {
                write_yaml(item, writer);
            }
            writer.end_sequence();
        }
        Value::Hash(hash) => {
            writer.begin_mapping();
            for (key, value) in hash.iter() {
                write_yaml(key, writer);
                write_yaml(value, writer);
            }
            writer.end_mapping();
        }
        Value::Sensitive(inner) => write_yaml(inner, writer),
        Value::Rich(_) => writer.string(&convert::stringify(value)),
    }
}
