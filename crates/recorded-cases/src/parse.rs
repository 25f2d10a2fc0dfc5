//! The text of a case file → cases. `tests/conformance/README.md` describes the format.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

use crate::case::{Case, RawQuestion, path_below_root};
use crate::json::Json;

/// A mistake in a case file.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {slip}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub slip: Slip,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Slip {
    /// A line that belongs to nothing.
    #[error("text outside a file")]
    StrayText,
    /// A directive that does not exist.
    #[error("unknown directive `@@{0}`")]
    UnknownDirective(String),
    /// A directive that needs a case before it.
    #[error("no case has begun")]
    NoCase,
    /// A name that is taken.
    #[error("a second case named `{0}`")]
    RepeatedName(String),
    /// A path that names no directory of the tree.
    #[error("a path starts with E/, C/, G/ or R/: `{0}`")]
    Path(String),
    /// A directive with too few arguments.
    #[error("expected {0}")]
    Missing(&'static str),
    /// JSON that cannot be parsed.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON of another kind.
    #[error("not an object")]
    NotAnObject,
    /// An answer with another status.
    #[error("the status of an answer is found, not_found or error")]
    Status,
    /// An answer before the first question.
    #[error("an answer without a question")]
    NoQuestion,
    /// More than one answer to a question.
    #[error("a second answer")]
    SecondAnswer,
}

/// Parses the text of a case file.
pub fn parse(text: &str) -> Result<Vec<Case>, ParseError> {
    let mut parser = Parser::default();
    let mut line = 0;
    for content in text.split('\n') {
        line += 1;
        parser
            .read_line(content, line)
            .map_err(|slip| ParseError { line, slip })?;
    }
    parser
        .close_file()
        .map_err(|slip| ParseError { line, slip })?;
    Ok(parser.cases)
}

#[derive(Default)]
struct Parser {
    topic: String,
    cases: Vec<Case>,
    /// Path and content of the file that lines belong to.
    open_file: Option<(String, String)>,
    /// The members of every following question.
    common: Option<Json>,
}

impl Parser {
    fn read_line(&mut self, line: &str, number: usize) -> Result<(), Slip> {
        let Some(directive) = line.strip_prefix("@@") else {
            if let Some((_, content)) = &mut self.open_file {
                content.push_str(line);
                content.push('\n');
            } else if !line.trim().is_empty() && !line.starts_with('#') {
                return Err(Slip::StrayText);
            }
            return Ok(());
        };
        self.close_file()?;
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        let (word, flags) = word.split_once(':').unwrap_or((word, ""));
        match word {
            "topic" => self.topic = rest.trim().to_owned(),
            "case" => self.begin_case(rest.trim())?,
            "levels" => self.add_file("E/hiera.yaml", Some(hiera_yaml(rest)))?,
            "global" => self.add_file("G/hiera.yaml", Some(hiera_yaml(rest)))?,
            "module" => {
                let (module, names) = rest.split_once(' ').unwrap_or((rest, ""));
                let path = format!("E/modules/{module}/hiera.yaml");
                self.add_file(&path, Some(hiera_yaml(names)))?;
            }
            "file" => {
                self.case()?;
                self.open_file = Some((checked_path(rest.trim())?, String::new()));
            }
            "json" => {
                let (path, content) = rest
                    .split_once(' ')
                    .ok_or(Slip::Missing("a path and a string"))?;
                let SurrogateText(content) = serde_json::from_str(content)?;
                self.add_file(path, Some(content))?;
            }
            "dir" => self.add_file(rest.trim(), None)?,
            "link" => {
                let (path, target) = rest
                    .split_once(' ')
                    .ok_or(Slip::Missing("a path and a target"))?;
                let link = (checked_path(path)?, target.trim().to_owned());
                self.case()?.links.push(link);
            }
            "with" => self.common = Some(object(rest)?),
            "ask" => self.add_question(&object(rest)?, flags, number)?,
            "want" => add_answer(&mut self.question()?.answer, object(rest)?)?,
            "want8" => add_answer(&mut self.question()?.answer_of_8, object(rest)?)?,
            _ => return Err(Slip::UnknownDirective(word.to_owned())),
        }
        Ok(())
    }

    fn begin_case(&mut self, name: &str) -> Result<(), Slip> {
        if self.cases.iter().any(|case| case.name == name) {
            return Err(Slip::RepeatedName(name.to_owned()));
        }
        self.common = None;
        self.cases.push(Case {
            topic: self.topic.clone(),
            name: name.to_owned(),
            files: Vec::new(),
            links: Vec::new(),
            questions: Vec::new(),
        });
        Ok(())
    }

    /// Adds a file or a directory. A later one replaces an earlier one with the same path.
    fn add_file(&mut self, path: &str, content: Option<Vec<u8>>) -> Result<(), Slip> {
        let path = checked_path(path)?;
        let files = &mut self.case()?.files;
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, old)) => *old = content,
            None => files.push((path, content)),
        }
        Ok(())
    }

    fn add_question(&mut self, own: &Json, flags: &str, line: usize) -> Result<(), Slip> {
        let common = self.common.clone().unwrap_or(Json::Object(Vec::new()));
        let request = own
            .members()
            .iter()
            .fold(common, |all, (name, value)| all.with(name, value.clone()));
        let flags = flags.split(',').filter(|flag| !flag.is_empty());
        let flags = flags.map(str::to_owned).collect();
        self.case()?.questions.push(RawQuestion {
            request,
            flags,
            line,
            answer: None,
            answer_of_8: None,
        });
        Ok(())
    }

    fn case(&mut self) -> Result<&mut Case, Slip> {
        self.cases.last_mut().ok_or(Slip::NoCase)
    }

    fn question(&mut self) -> Result<&mut RawQuestion, Slip> {
        self.case()?.questions.last_mut().ok_or(Slip::NoQuestion)
    }

    fn close_file(&mut self) -> Result<(), Slip> {
        match self.open_file.take() {
            Some((path, content)) => self.add_file(&path, Some(content.into_bytes())),
            None => Ok(()),
        }
    }
}

fn add_answer(recorded: &mut Option<Json>, answer: Json) -> Result<(), Slip> {
    let status = answer.get("status").and_then(Json::as_text);
    if !matches!(status, Some("found" | "not_found" | "error")) {
        return Err(Slip::Status);
    }
    match recorded.replace(answer) {
        None => Ok(()),
        Some(_) => Err(Slip::SecondAnswer),
    }
}

fn checked_path(path: &str) -> Result<String, Slip> {
    match path_below_root(path) {
        Some(_) => Ok(path.to_owned()),
        None => Err(Slip::Path(path.to_owned())),
    }
}

/// A hiera.yaml with a level `data/NAME.yaml` for each name.
fn hiera_yaml(names: &str) -> Vec<u8> {
    let mut text =
        "version: 5\ndefaults:\n  datadir: data\n  data_hash: yaml_data\nhierarchy:\n".to_owned();
    for name in names.split_whitespace() {
        text += &format!("  - name: \"{name}\"\n    path: {name}.yaml\n");
    }
    text.into_bytes()
}

fn object(text: &str) -> Result<Json, Slip> {
    match Json::parse(text)? {
        object @ Json::Object(_) => Ok(object),
        _ => Err(Slip::NotAnObject),
    }
}

/// A string in which `\udcff` is the byte 0xff, as in Python's `surrogateescape`.
struct SurrogateText(Vec<u8>);

impl<'de> Deserialize<'de> for SurrogateText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = SurrogateText;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<SurrogateText, E> {
                let mut out = Vec::with_capacity(bytes.len());
                let mut rest = bytes;
                while let Some((first, behind)) = rest.split_first() {
                    // Half a surrogate pair is three bytes here, the last six bits of each being payload.
                    if let [0xed, middle @ 0xb2..=0xb3, last, after @ ..] = rest {
                        out.push((middle & 0x3) << 6 | last & 0x3f);
                        rest = after;
                    } else {
                        out.push(*first);
                        rest = behind;
                    }
                }
                Ok(SurrogateText(out))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_files_and_questions_with_common_members() {
        let cases = parse(concat!(
            "@@topic t\n@@case one\n# a comment\n@@levels a b\n@@file E/data/a.yaml\n# not a comment\nk: 1\n",
            "@@json C/odd \"caf\\udce9 \\ud83c\\udf89\"\n@@with {\"node\": \"n\", \"merge\": \"deep\"}\n",
            "@@ask:badreq {\"key\": \"k\", \"merge\": \"first\"}\n@@want {\"status\": \"not_found\"}\n",
        ))
        .unwrap();
        let [case] = cases.as_slice() else {
            panic!("{cases:?}")
        };
        assert_eq!(case.label(), "t/one");
        let file = |path: &str| {
            let found = case.files.iter().find(|(known, _)| known == path);
            found.and_then(|(_, content)| content.clone()).unwrap()
        };
        assert_eq!(file("E/data/a.yaml"), b"# not a comment\nk: 1\n");
        assert_eq!(file("C/odd"), b"caf\xe9 \xf0\x9f\x8e\x89");
        let question = &case.questions[0];
        let request = r#"{"node": "n", "merge": "first", "key": "k"}"#;
        assert_eq!(question.request.to_string(), request);
        assert_eq!(question.flags, ["badreq"]);
        assert_eq!(question.line, 10);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        for (text, expected) in [
            ("stray", "line 1: text outside a file"),
            ("@@case a\n@@fiel E/x", "line 2: unknown directive `@@fiel`"),
            ("@@case a\n@@case a", "line 2: a second case named `a`"),
            (
                "@@case a\n@@file x",
                "line 2: a path starts with E/, C/, G/ or R/: `x`",
            ),
            ("@@file E/x", "line 1: no case has begun"),
            (
                "@@case a\n@@want {\"status\": \"found\"}",
                "line 2: an answer without a question",
            ),
            (
                "@@case a\n@@ask {}\n@@want {\"status\": \"fuond\"}",
                "line 3: the status of an answer is found, not_found or error",
            ),
            (
                "@@case a\n@@ask {}\n@@want {\"status\": \"found\"}\n@@want {\"status\": \"found\"}",
                "line 4: a second answer",
            ),
            ("@@case a\n@@ask []", "line 2: not an object"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
    }
}
