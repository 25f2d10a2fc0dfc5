//! [`Case`]: a small code directory, lookups in it and Puppet's answers.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::json::Json;
use crate::parse::{ParseError, parse};

/// Stands for the absolute path of the tree in files and requests.
const ROOT_MARK: &str = "@ROOT@";

/// A tree and the lookups in it.
#[derive(Debug)]
pub struct Case {
    /// The topic, which is also the name of the file.
    pub topic: String,
    /// The name, unique in its file.
    pub name: String,
    /// Path as written (`E/data/common.yaml`) and content; `None` is a directory.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// Path as written and target of each symbolic link.
    pub links: Vec<(String, String)>,
    /// The lookups.
    pub questions: Vec<RawQuestion>,
}

/// A lookup and the answers as recorded, if any.
#[derive(Debug)]
pub struct RawQuestion {
    /// The body of `POST /lookup`.
    pub request: Json,
    /// `badreq`, `unknown_env`, `alone`.
    pub flags: Vec<String>,
    /// The line in the case file, from 1.
    pub line: usize,
    /// The answer of Puppet 7.
    pub answer: Option<Json>,
    /// The answer of Puppet 8, if it differs.
    pub answer_of_8: Option<Json>,
}

/// The versions of Puppet with recorded answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Puppet {
    /// Puppet 7.23.
    Seven,
    /// Puppet 8.11.
    Eight,
}

impl Puppet {
    /// The value of the setting `strict` that makes hierad answer like this version.
    pub fn strict(self) -> &'static str {
        match self {
            Puppet::Seven => "warning",
            Puppet::Eight => "error",
        }
    }
}

/// A case with the answers of one version of Puppet.
#[derive(Debug)]
pub struct Recording<'a> {
    /// The case.
    pub case: &'a Case,
    /// Whose answers these are.
    pub puppet: Puppet,
    /// The lookups, each with its answer.
    pub questions: Vec<Question<'a>>,
}

/// A lookup with a recorded answer.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The body of `POST /lookup`.
    pub request: &'a Json,
    /// `badreq`, `unknown_env`, `alone`.
    pub flags: &'a [String],
    /// The line in the case file, from 1.
    pub line: usize,
    /// The recorded answer.
    pub expected: &'a Json,
}

/// Why the cases cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or directory cannot be read.
    #[error("in `{path}`: {source}")]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not in the format.
    #[error("in `{path}`: {source}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The mistake.
        source: ParseError,
    },
    /// A question has no answer yet.
    #[error("`{label}`, line {line}: no answer is recorded")]
    Unanswered {
        /// Topic and name of the case.
        label: String,
        /// The line of the question.
        line: usize,
    },
}

impl Case {
    /// `topic/name`.
    pub fn label(&self) -> String {
        format!("{}/{}", self.topic, self.name)
    }

    /// The case with the answers of one version of Puppet.
    pub fn answered_by(&self, puppet: Puppet) -> Result<Recording<'_>, CaseError> {
        let mut questions = Vec::new();
        for question in &self.questions {
            let of_8 = question.answer_of_8.as_ref();
            let of_8 = of_8.filter(|_| puppet == Puppet::Eight);
            let expected = of_8.or(question.answer.as_ref());
            questions.push(Question {
                request: &question.request,
                flags: &question.flags,
                line: question.line,
                expected: expected.ok_or_else(|| CaseError::Unanswered {
                    label: self.label(),
                    line: question.line,
                })?,
            });
        }
        Ok(Recording {
            case: self,
            puppet,
            questions,
        })
    }

    /// Writes the tree below a directory.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let target = |path: &str| match path_below_root(path) {
            Some(below) => Ok(root.join(below)),
            None => Err(io::Error::other(format!("not a path of a case: {path}"))),
        };
        let with_parents = |path: PathBuf| {
            let parents = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            parents.map(|()| path)
        };
        let root_text = root.display().to_string();
        for (path, content) in &self.files {
            match content {
                None => std::fs::create_dir_all(target(path)?)?,
                Some(content) => {
                    let content = fill_in_root(content, &root_text);
                    std::fs::write(with_parents(target(path)?)?, content)?;
                }
            }
        }
        for (path, to) in &self.links {
            let to = to.replace(ROOT_MARK, &root_text);
            symlink(to, with_parents(target(path)?)?)?;
        }
        Ok(())
    }
}

impl Question<'_> {
    /// The request with the path of the tree filled in.
    pub fn request_for(&self, root: &Path) -> Json {
        self.request.replace(ROOT_MARK, &root.display().to_string())
    }

    /// The recorded status: `found`, `not_found` or `error`.
    pub fn status(&self) -> &str {
        let status = self.expected.get("status").and_then(Json::as_text);
        status.unwrap_or_default()
    }

    /// Is the question marked with this flag?
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// The key, if it is a single one.
    pub fn key(&self) -> Option<&str> {
        self.request.get("key").and_then(Json::as_text)
    }

    /// Does the request ask for an explanation?
    pub fn is_explained(&self) -> bool {
        self.request.get("explain").is_some()
    }

    /// Does the request ask for an explanation of the lookup options alone?
    pub fn explains_options(&self) -> bool {
        self.request.get("explain").and_then(Json::as_text) == Some("options")
    }
}

/// Where a path of a case lies below the root of its tree: `E/` is the environment `production`, `C/` the code
/// directory, `G/` the directory of the global hiera.yaml, `R/` the root itself.
pub fn path_below_root(path: &str) -> Option<PathBuf> {
    let (start, rest) = path.split_once('/')?;
    let directory = match start {
        "E" => "code/environments/production",
        "C" => "code",
        "G" => "global",
        "R" => "",
        _ => return None,
    };
    Some(Path::new(directory).join(rest))
}

/// Every case in the `*.case` files of a directory.
pub fn load(directory: &Path) -> Result<Vec<Case>, CaseError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| CaseError::Unreadable { path, source }
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable(directory))? {
        let path = entry.map_err(unreadable(directory))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "case")
        {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        cases.extend(parse(&text).map_err(|source| CaseError::Malformed { path, source })?);
    }
    Ok(cases)
}

/// Fills in the root in bytes that need not be UTF-8.
fn fill_in_root(content: &[u8], root: &str) -> Vec<u8> {
    let mark = ROOT_MARK.as_bytes();
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((first, behind)) = rest.split_first() {
        match rest.strip_prefix(mark) {
            Some(after) => {
                out.extend_from_slice(root.as_bytes());
                rest = after;
            }
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_puppet_8_replaces_that_of_puppet_7() {
        let text = concat!(
            "@@case one\n@@ask {\"key\": \"k\"}\n@@want {\"status\": \"not_found\"}\n",
            "@@want8 {\"status\": \"error\"}\n@@ask {\"key\": \"l\"}\n@@want {\"status\": \"not_found\"}\n",
        );
        let cases = parse(text).unwrap();
        for (puppet, expected) in [
            (Puppet::Seven, ["not_found", "not_found"]),
            (Puppet::Eight, ["error", "not_found"]),
        ] {
            let recording = cases[0].answered_by(puppet).unwrap();
            let statuses: Vec<&str> = recording.questions.iter().map(Question::status).collect();
            assert_eq!(statuses, expected);
        }
    }

    #[test]
    fn a_question_without_an_answer_is_an_error() {
        let cases = parse("@@topic t\n@@case one\n@@ask {\"key\": \"k\"}\n").unwrap();
        let error = cases[0].answered_by(Puppet::Seven).unwrap_err();
        assert_eq!(error.to_string(), "`t/one`, line 3: no answer is recorded");
    }

    #[test]
    fn the_root_is_filled_in_beside_bytes_that_are_not_utf_8() {
        assert_eq!(fill_in_root(b"\xff@ROOT@/x @ROOT", "/r"), b"\xff/r/x @ROOT");
    }
}
