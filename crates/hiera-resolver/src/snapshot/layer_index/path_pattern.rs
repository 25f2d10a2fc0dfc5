//! [`PathPattern`]: a path of a hierarchy as fixed texts with names between them.

use puppet_values::table_key::hash_of;

use super::names::{Name, NamePart, NameSource, Names};
use crate::hierarchy::{ConfigText, Level, path};
use crate::template::{Part, Token};

/// The path of a location below its data directory.
#[derive(Debug)]
pub(super) struct PathPattern {
    // Invariant: starts and ends with a text.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Name {
        /// The index of its source.
        source: usize,
        /// The text beside it keeps its component from being empty, `.` or `..`.
        may_be_dots: bool,
    },
}

impl PathPattern {
    /// Splits a path. New sources of names are added to `sources`. `None` if only the plan can handle the path.
    pub(super) fn parse(
        level: &Level,
        path: &ConfigText,
        sources: &mut Vec<NameSource>,
    ) -> Option<Self> {
        if !level.has_plain_path(path) {
            return None;
        }
        let mut pieces = Vec::new();
        let mut text = format!("{}/", level.datadir().source());
        for (index, component) in components(path)?.into_iter().enumerate() {
            if index > 0 {
                text.push('/');
            }
            let is_variable = |part: &NamePart| matches!(part, NamePart::Variable(_));
            let variables = component.iter().filter(|part| is_variable(part)).count();
            let is_kept =
                |part: &NamePart| matches!(part, NamePart::Text(text) if !path::is_only_dots(text));
            let may_be_dots = component.iter().any(is_kept);
            let mut add = |text: &mut String, parts: Vec<NamePart>| {
                let source = index_of_source(sources, NameSource { parts });
                pieces.push(Piece::Text(std::mem::take(text)));
                pieces.push(Piece::Name {
                    source,
                    may_be_dots,
                });
            };
            if variables > 1 {
                // A path does not show where one name ends and the next starts, so together they are one name.
                add(&mut text, component);
                continue;
            }
            for part in component {
                match part {
                    NamePart::Text(more) => text.push_str(&more),
                    NamePart::Variable(_) => add(&mut text, vec![part]),
                }
            }
        }
        if let Some(extension) = level.extension()
            && !text.ends_with(extension)
        {
            return None;
        }
        pieces.push(Piece::Text(text));
        Some(PathPattern { pieces })
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text before the first name.
    pub(super) fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The names in the path, each with whether it may be dots.
    pub(super) fn names<'n, 's>(
        &self,
        names: &'n Names<'s>,
    ) -> impl Iterator<Item = (&'n Name<'s>, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Name {
                source,
                may_be_dots,
            } => Some((names.get(*source)?, *may_be_dots)),
        })
    }

    /// Is it this path with these names?
    pub(super) fn matches(&self, names: &Names<'_>, path: &str) -> bool {
        let mut rest = path;
        for piece in &self.pieces {
            let text = piece.text(names);
            match text.and_then(|text| rest.strip_prefix(text)) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
        rest.is_empty()
    }

    /// The hash of the names in a path; `None` if the path does not match.
    pub(super) fn hash_of_names_in(&self, path: &str) -> Option<u64> {
        let mut rest = path;
        let mut hash = 0;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Piece::Name { may_be_dots, .. } => {
                    // A name ends with its component, without the text that follows it there.
                    let behind = match pieces.peek() {
                        Some(Piece::Text(text)) => text.split('/').next()?,
                        _ => "",
                    };
                    let name = rest.split('/').next()?.strip_suffix(behind)?;
                    if path::is_only_dots(name) && !may_be_dots {
                        return None;
                    }
                    hash = combine(hash, hash_of(name));
                    rest = rest.get(name.len()..)?;
                }
            }
        }
        rest.is_empty().then_some(hash)
    }
}

impl Piece {
    pub(super) fn text<'t>(&'t self, names: &'t Names<'_>) -> Option<&'t str> {
        match self {
            Piece::Text(text) => Some(text),
            Piece::Name { source, .. } => names.get(*source).map(|name| &*name.text),
        }
    }
}

/// The hash of several names in their order.
pub(super) fn combine(hash: u64, name: u64) -> u64 {
    hash.rotate_left(7) ^ name
}

fn index_of_source(sources: &mut Vec<NameSource>, source: NameSource) -> usize {
    let known = sources.iter().position(|known| *known == source);
    known.unwrap_or_else(|| {
        sources.push(source);
        sources.len() - 1
    })
}

/// The components of a path; `None` if it has tokens other than variables.
fn components(path: &ConfigText) -> Option<Vec<Vec<NamePart>>> {
    let mut components = Vec::new();
    let mut component = Vec::new();
    for part in path.parts() {
        match part {
            Part::Text(text) => {
                for (index, more) in text.split('/').enumerate() {
                    if index > 0 {
                        components.push(std::mem::take(&mut component));
                    }
                    if !more.is_empty() {
                        component.push(NamePart::Text(more.into()));
                    }
                }
            }
            Part::Token(Token::Variable(variable)) => component.push(NamePart::Variable(variable)),
            Part::Token(_) => return None,
        }
    }
    components.push(component);
    Some(components)
}
