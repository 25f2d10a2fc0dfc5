//! [`Regexp`]: a regular expression, as a value or in a type.

use std::fmt;
use std::sync::Arc;

use lean_string::LeanStr;

use ruby_regex::{MatchError, RegexError, RubyRegex};

/// A regular expression. Puppet has no syntax for options, so the source is all there is.
///
/// ```
/// let regexp = puppet_values::Regexp::new(r"\Aweb\d+")?;
/// assert!(regexp.is_match("web01"));
/// assert_eq!(regexp.to_string(), r"/\Aweb\d+/");
/// # Ok::<(), puppet_values::RegexError>(())
/// ```
#[derive(Clone)]
pub struct Regexp {
    source: LeanStr,
    matcher: Matcher,
}

/// How strings are matched.
#[derive(Clone)]
enum Matcher {
    /// One of Puppet's own patterns, as a function.
    Native(fn(&str) -> bool),
    /// Any other pattern.
    Compiled(Arc<RubyRegex>),
}

impl Regexp {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// If Ruby refuses the pattern, with Ruby's message, or if it exceeds the limits of `ruby-regex`.
    pub fn new(source: &str) -> Result<Self, RegexError> {
        let regex = RubyRegex::new(source)?;
        Ok(Regexp {
            source: LeanStr::from(source),
            matcher: Matcher::Compiled(Arc::new(regex)),
        })
    }

    /// A pattern with a faster function that matches the same strings.
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

    /// The pattern as Puppet's `String()` prints it.
    pub fn text(&self) -> String {
        if self.source.is_ascii() {
            self.source.to_string()
        } else {
            // To Ruby, the encoding of such a pattern is an option, and Puppet then prints all options.
            format!("(?-imx:{})", self.source)
        }
    }

    /// Does it match anywhere in the string?
    ///
    /// A search that exceeds its limit spends the [budget](work_budget) of the thread, so that the result, which is
    /// false then, is not taken for an answer.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Native(matches) => matches(text),
            Matcher::Compiled(regex) => regex.is_match(text).unwrap_or_else(|error| {
                let MatchError::TooManySteps { limit } = error;
                work_budget::give_up(limit);
                false
            }),
        }
    }
}

/// The pattern between slashes, as Ruby's `inspect` prints it.
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
