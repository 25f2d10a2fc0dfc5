//! YAML nodes → values, with notices about spellings that often surprise.

use arcstr::ArcStr;
use psych_yaml::{Build, Limits, Mark, Scalar, Source, Style};
use puppet_values::Value;
use puppet_values::hash::{HashBuilder, exact};

use super::encrypted::{Decrypt, is_encrypted};
use super::fault::Notice;
use super::texts::Texts;
use crate::template::{Origin, Template};

/// Reads YAML as Puppet reads its data: Symbols that are keys become strings.
pub fn read_yaml(bytes: &[u8], texts: &mut Texts) -> Result<Option<Value>, psych_yaml::ReadError> {
    psych_yaml::read(
        bytes,
        &Limits::default(),
        &mut ValueBuilder::new(texts, None),
    )
}

/// Room for the items of most collections, so that they are not moved while they are collected.
const USUAL_LENGTH: usize = 8;

/// Makes values of the nodes of a file.
pub(crate) struct ValueBuilder<'a> {
    texts: &'a mut Texts,
    decrypt: Option<Decrypt<'a>>,
    notices: Vec<Notice>,
    undecryptable: Vec<Notice>,
    /// Symbols that are not yet known to be keys.
    symbols: Vec<(ArcStr, Mark)>,
}

impl<'a> ValueBuilder<'a> {
    pub(crate) fn new(texts: &'a mut Texts, decrypt: Option<Decrypt<'a>>) -> Self {
        ValueBuilder {
            texts,
            decrypt,
            notices: Vec::new(),
            undecryptable: Vec::new(),
            symbols: Vec::new(),
        }
    }

    /// What is odd, and what could not be decrypted, in the order of the file.
    pub(crate) fn into_notices(mut self) -> (Vec<Notice>, Vec<Notice>) {
        for (name, mark) in self.symbols {
            if !matches!(name.as_str(), "default" | "undef") {
                let text = format!(
                    "`:{name}` is a Symbol, and lookups of the value it stands in fail; quote it"
                );
                self.notices.push(Notice::at(mark, text));
            }
        }
        self.notices
            .sort_by_key(|notice| (notice.line, notice.column));
        (self.notices, self.undecryptable)
    }

    /// Notes a number that was probably meant as a string.
    fn number(&mut self, value: Value, source: Source<'_>) -> Value {
        if source.style == Style::Plain && is_surprising(source.text) {
            let mut read = String::new();
            puppet_values::ruby_text::inspect(&value, &mut read);
            let text = format!(
                "`{}` is read as the number {read}; quote it if it is text",
                source.text
            );
            self.notices.push(Notice::at(source.mark, text));
        }
        value
    }

    fn decrypted(&mut self, text: &str, decrypt: Decrypt<'_>, mark: Mark) -> Value {
        let template = match decrypt(text) {
            Ok(plain) => Template::decrypted(text, &plain),
            Err(fault) => {
                let problem = format!("cannot be decrypted: {}", fault.reason);
                self.undecryptable.push(Notice::at(mark, problem));
                Template::undecryptable(text, fault)
            }
        };
        template.into_value()
    }
}

/// `80,443` and `22:22` are numbers in YAML 1.1, `0644` is octal, and `1.10` loses its zero.
fn is_surprising(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let is_octal = digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let loses_zero = digits
        .split_once('.')
        .is_some_and(|(_, decimals)| decimals.len() > 1 && decimals.ends_with('0'));
    text.contains([',', ':']) || is_octal || loses_zero
}

impl Build for ValueBuilder<'_> {
    type Value = Value;
    type Sequence = Vec<Value>;
    type Mapping = HashBuilder;

    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Value {
        match scalar {
            Scalar::Integer(_) | Scalar::Float(_) => self.number(Value::from(scalar), source),
            Scalar::String(text) => match self.decrypt {
                Some(decrypt) if is_encrypted(text) => self.decrypted(text, decrypt, source.mark),
                _ => self.texts.value(text),
            },
            Scalar::Symbol(name) => {
                let name = ArcStr::from(name);
                self.symbols.push((name.clone(), source.mark));
                Value::Symbol(name)
            }
            other => Value::from(other),
        }
    }

    fn sequence(&mut self) -> Vec<Value> {
        Vec::with_capacity(USUAL_LENGTH)
    }

    fn push(&mut self, sequence: &mut Vec<Value>, value: Value) {
        sequence.push(value);
    }

    fn finish_sequence(&mut self, sequence: Vec<Value>, _mark: Mark) -> Value {
        Value::array(exact(sequence))
    }

    fn mapping(&mut self) -> HashBuilder {
        HashBuilder::new()
    }

    fn insert(&mut self, mapping: &mut HashBuilder, key: Value, value: Value) {
        // Puppet makes strings of Symbols that are keys.
        let key = match key {
            Value::Symbol(name) => {
                if let Some(index) = self.symbols.iter().rposition(|(known, _)| *known == name) {
                    self.symbols.remove(index);
                }
                self.texts.value(&name)
            }
            // Keys are never decrypted.
            Value::Template(template) if *Template::of(&template).origin() != Origin::Plain => {
                self.texts.value(template.source())
            }
            other => other,
        };
        mapping.insert(key, value);
    }

    fn finish_mapping(&mut self, mapping: HashBuilder, _mark: Mark) -> Value {
        Value::hash(mapping.finish())
    }

    fn entries(&self, value: &Value) -> Option<Vec<(Value, Value)>> {
        value.as_hash().map(|hash| {
            hash.iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        })
    }

    fn open_entries(&self, mapping: &HashBuilder) -> Vec<(Value, Value)> {
        mapping
            .entries()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{DataFile, Format, Texts};

    #[test]
    fn surprising_spellings_are_noted() {
        let yaml = ":key: 1\nports: 80,443\ntime: 22:22\nmode: 0644\nversion: 1.10\nfine: [1.5, 10, '0644']\nbad: :word\n";
        let file = DataFile::decode(
            "/x.yaml",
            Format::YAML,
            yaml.as_bytes(),
            &mut Texts::default(),
        );
        let notices: Vec<String> = file
            .contents()
            .unwrap()
            .notices()
            .iter()
            .map(|notice| format!("{}:{} {}", notice.line, notice.column, notice.text))
            .collect();
        assert_eq!(
            notices,
            [
                "2:8 `80,443` is read as the number 80443; quote it if it is text",
                "3:7 `22:22` is read as the number 80520; quote it if it is text",
                "4:7 `0644` is read as the number 420; quote it if it is text",
                "5:10 `1.10` is read as the number 1.1; quote it if it is text",
                "7:6 `:word` is a Symbol, and lookups of the value it stands in fail; quote it",
            ]
        );
    }
}
