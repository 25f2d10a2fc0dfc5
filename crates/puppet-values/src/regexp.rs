//! [`Regexp`]: a regular expression as a value and in types.

use std::fmt;
use std::sync::Arc;

use lean_string::LeanStr;

use ruby_regex::RubyRegex;

/// A regular expression. Puppet has no way to give one options, so its source is all of it.
#[derive(Clone)]
pub struct Regexp {
    source: LeanStr,
    matcher: Matcher,
}

/// How a text is matched.
#[derive(Clone)]
enum Matcher {
    /// One of Puppet's own patterns, by hand.
    Native(fn(&str) -> bool),
    /// Any other.
    Compiled(Arc<RubyRegex>),
}

impl Regexp {
    /// Compiles a pattern. The error is the text that Ruby would give.
    pub fn new(source: &str) -> Result<Self, String> {
        let regex = RubyRegex::new(source).map_err(|error| error.to_string())?;
        Ok(Regexp {
            source: LeanStr::from(source),
            matcher: Matcher::Compiled(Arc::new(regex)),
        })
    }

    /// A pattern and a function that matches the same texts, only faster.
    pub fn native(source: &str, matches: fn(&str) -> bool) -> Self {
        Regexp {
            source: LeanStr::from(source),
            matcher: Matcher::Native(matches),
        }
    }

    /// The pattern, without slashes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The pattern as Puppet's `String` writes it.
    pub fn text(&self) -> String {
        if self.source.is_ascii() {
            self.source.to_string()
        } else {
            // Ruby counts the encoding of such a pattern as an option, and Puppet then names them all.
            format!("(?-imx:{})", self.source)
        }
    }

    /// Does it match somewhere in the text? A match that had to be given up counts as none.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Native(matches) => matches(text),
            Matcher::Compiled(regex) => regex.is_match(text).unwrap_or(false),
        }
    }
}

/// The pattern between slashes, as Ruby's `inspect` writes it.
impl fmt::Display for Regexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.source.is_ascii() {
            ("/", "/")
        } else {
            ("/(?-mix:", ")/")
        };
        f.write_str(open)?;
        let mut chars = self.source.chars();
        while let Some(char) = chars.next() {
            match char {
                '\\' => {
                    f.write_str("\\")?;
                    if let Some(next) = chars.next() {
                        write!(f, "{next}")?;
                    }
                }
                '/' => f.write_str("\\/")?,
                '\t' | '\n' | '\x0b' | '\x0c' | '\r' => write!(f, "{char}")?,
                char if char.is_ascii_control() => write!(f, "\\x{:02X}", u32::from(char))?,
                char => write!(f, "{char}")?,
            }
        }
        f.write_str(close)
    }
}

impl fmt::Debug for Regexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Regexp {}

impl std::hash::Hash for Regexp {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}
