//! A location → text and gaps → [`Reach`].

use super::{KnownVariables, Reach};
use crate::hierarchy::{ConfigText, path};
use crate::template::{Part, Token};

/// A part of a location.
#[derive(Clone, Debug, PartialEq)]
enum Chunk {
    Text(String),
    Gap {
        /// How many `..` it may stand for. Variables stand for none: a path with one from a variable is refused.
        parents: usize,
    },
}

/// Splits a location into text and gaps.
#[derive(Default)]
pub(super) struct ReachBuilder {
    chunks: Vec<Chunk>,
    is_glob: bool,
    /// How many braces of a glob are open.
    braces: usize,
    /// The text in them.
    in_braces: String,
    is_in_class: bool,
    is_escaped: bool,
}

impl ReachBuilder {
    pub(super) fn new(is_glob: bool) -> Self {
        ReachBuilder {
            is_glob,
            ..ReachBuilder::default()
        }
    }

    /// Appends a string of a configuration.
    pub(super) fn push_all(&mut self, text: &ConfigText, known: &KnownVariables<'_>) {
        for part in text.parts() {
            match &part {
                Part::Text(text) => self.push_written(text),
                Part::Token(Token::Empty) => {}
                Part::Token(Token::Variable(variable)) => match known.value(variable) {
                    Some(value) if self.braces == 0 && !self.is_in_class => self.push_text(value),
                    _ => self.push_gap(0),
                },
                Part::Token(Token::Call { .. }) => self.push_gap(0),
            }
        }
    }

    /// Appends text as written.
    pub(super) fn push_written(&mut self, text: &str) {
        match self.is_glob {
            true => self.push_glob(text),
            false => self.push_text(text),
        }
    }

    fn push_text(&mut self, text: &str) {
        match self.chunks.last_mut() {
            Some(Chunk::Text(last)) => last.push_str(text),
            _ => self.chunks.push(Chunk::Text(text.to_owned())),
        }
    }

    fn push_gap(&mut self, more: usize) {
        // A backslash before a variable escapes its first character.
        self.is_escaped = false;
        match self.chunks.last_mut() {
            Some(Chunk::Gap { parents }) => *parents += more,
            _ => self.chunks.push(Chunk::Gap { parents: more }),
        }
    }

    /// Appends text of a glob, in which every special character is a gap.
    fn push_glob(&mut self, text: &str) {
        let mut buffer = [0; 4];
        for letter in text.chars() {
            let is_literal = std::mem::take(&mut self.is_escaped);
            match letter {
                '\\' if !is_literal => self.is_escaped = true,
                '{' if !is_literal => {
                    self.braces += 1;
                    self.push_gap(0);
                }
                '}' if !is_literal && self.braces > 0 => {
                    self.braces -= 1;
                    if self.braces == 0 {
                        let parents = self.in_braces.matches("..").count();
                        self.in_braces.clear();
                        self.push_gap(parents);
                    }
                }
                _ if self.braces > 0 => self.in_braces.push(letter),
                '[' if !is_literal && !self.is_in_class => {
                    self.is_in_class = true;
                    self.push_gap(0);
                }
                ']' if !is_literal && self.is_in_class => self.is_in_class = false,
                _ if self.is_in_class => {}
                '*' | '?' if !is_literal => self.push_gap(0),
                _ => self.push_text(letter.encode_utf8(&mut buffer)),
            }
        }
    }

    /// Appends an extension, unless the location ends in it. A variable at the end may end in it or in a part of it.
    pub(super) fn push_extension(&mut self, extension: &str) {
        if let Some(Chunk::Text(last)) = self.chunks.last_mut() {
            if last.ends_with(extension) {
                return;
            }
            if self.chunks.len() > 1
                && let Some(Chunk::Text(last)) = self.chunks.last()
                && extension.ends_with(last.as_str())
            {
                // The variable before it may end in the rest of the extension.
                self.chunks.pop();
            }
        }
        self.push_text(extension);
    }

    /// The components between slashes, `.` and `..` resolved.
    fn components(self, before_parents: &mut Vec<String>) -> Vec<Vec<Chunk>> {
        let mut written = vec![Vec::new()];
        for chunk in self.chunks {
            let Chunk::Text(text) = &chunk else {
                if let Some(last) = written.last_mut() {
                    last.push(chunk);
                }
                continue;
            };
            for (index, name) in text.split('/').enumerate() {
                if index > 0 {
                    written.push(Vec::new());
                }
                if let (Some(last), false) = (written.last_mut(), name.is_empty()) {
                    last.push(Chunk::Text(name.to_owned()));
                }
            }
        }
        let mut components: Vec<Vec<Chunk>> = Vec::new();
        for component in written {
            match component.as_slice() {
                [] => {}
                [Chunk::Text(name)] if name == "." => {}
                [Chunk::Text(name)] if name == ".." => {
                    before_parents.extend(fixed_path(&components));
                    pop(&mut components);
                }
                chunks if chunks.iter().any(Chunk::is_gap) => {
                    let mut parents: usize = chunks.iter().map(Chunk::parents).sum();
                    // Dots may become a component `.`, which is removed, or `..`: where the variables beside two dots
                    // are empty, or braces add the second one.
                    let has_dots = chunks.iter().any(Chunk::is_dots);
                    let is_parent = |it: &Chunk| matches!(it, Chunk::Text(text) if text == "..");
                    let has_parent = chunks.iter().any(is_parent);
                    parents += usize::from(has_parent || self.is_glob && has_dots);
                    let mut rest = component.clone();
                    rest.retain(|chunk| !chunk.is_dots());
                    rest.dedup_by(|next, last| next.is_gap() && last.is_gap());
                    components.push(rest);
                    (0..parents).for_each(|_| pop(&mut components));
                }
                _ => components.push(component),
            }
        }
        components
    }

    pub(super) fn build(self) -> Reach {
        let is_glob = self.is_glob;
        let mut reach = Reach {
            root: String::new(),
            before: String::new(),
            after: Vec::new(),
            is_glob,
            before_parents: Vec::new(),
            wants_directory: false,
        };
        let components = self.components(&mut reach.before_parents);
        for component in components {
            if reach.after.is_empty() {
                reach.root.clone_from(&reach.before);
            }
            reach.push("/");
            for chunk in &component {
                match chunk {
                    Chunk::Text(text) => reach.push(text),
                    Chunk::Gap { .. } => reach.after.push(String::new()),
                }
            }
        }
        for path in [&mut reach.root, &mut reach.before] {
            if path.is_empty() {
                path.push('/');
            }
        }
        reach
    }
}

impl Reach {
    fn push(&mut self, text: &str) {
        self.after
            .last_mut()
            .unwrap_or(&mut self.before)
            .push_str(text);
    }
}

impl Chunk {
    fn is_gap(&self) -> bool {
        matches!(self, Chunk::Gap { .. })
    }

    fn is_dots(&self) -> bool {
        matches!(self, Chunk::Text(text) if path::is_only_dots(text))
    }

    fn parents(&self) -> usize {
        match self {
            Chunk::Text(_) => 0,
            Chunk::Gap { parents } => *parents,
        }
    }
}

/// The path of components without gaps.
fn fixed_path(components: &[Vec<Chunk>]) -> Option<String> {
    let mut path = String::new();
    for component in components {
        let [Chunk::Text(name)] = component.as_slice() else {
            return None;
        };
        path.push('/');
        path.push_str(name);
    }
    (!path.is_empty()).then_some(path)
}

/// Goes to the parent directory. A gap may stand for any number of directories, or none: then the result is the parent of
/// what is before the gap.
fn pop(components: &mut Vec<Vec<Chunk>>) {
    let has_gap = |component: &Vec<Chunk>| component.iter().any(Chunk::is_gap);
    match components.iter().position(has_gap) {
        None => _ = components.pop(),
        Some(first) => {
            components.truncate(first);
            components.pop();
            components.push(vec![Chunk::Gap { parents: 0 }]);
        }
    }
}
