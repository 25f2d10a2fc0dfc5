//! [`Reach`]: every path that a location could come to, whatever its variables are.
//!
//! A lookup fills a location in (`plan.rs`); loading has to hold every file that this could lead to. Both work on
//! the same parsed [`Text`]s, and the tests below hold them to each other: what can be filled in is within reach.
//! A reach may contain paths that no lookup names, which costs memory. It never lacks one that a lookup can name.

use crate::config::{Level, Locations, Text};
use crate::path;
use crate::scope::bare_name;
use crate::template::{Part, Token, Variable};

/// The paths that a location could come to: fixed text with gaps, each of which stands for any text.
#[derive(Debug, PartialEq, Eq)]
pub struct Reach {
    /// The directory that all of the paths lie in, or are.
    root: String,
    /// The text before the first gap. Starts with the root.
    before: String,
    /// The text after each gap. None: there is no gap, and `before` is the only path.
    after: Vec<String>,
    is_glob: bool,
    /// The directories before each `..`: there is nothing behind it where they are not there.
    through: Vec<String>,
    /// It ends in a slash, and so names directories alone.
    wants_directory: bool,
}

impl Level {
    /// What its locations could come to in an environment.
    pub fn reaches(&self, environment: &str) -> Vec<Reach> {
        let reach = |text: &Text, is_glob: bool, local: Option<&str>| {
            let known = Known { environment, local };
            Reach::build(
                self.datadir(),
                text,
                self.extension().filter(|_| !is_glob),
                is_glob,
                &known,
            )
        };
        match self.locations() {
            Locations::None | Locations::Uris(_) => Vec::new(),
            Locations::Paths(paths) => paths.iter().map(|it| reach(it, false, None)).collect(),
            Locations::Globs(globs) => globs.iter().map(|it| reach(it, true, None)).collect(),
            Locations::Mapped { name, path, .. } => vec![reach(path, false, Some(name))],
        }
    }
}

impl Reach {
    /// What a path below a directory could come to; both may have tokens.
    pub fn of_path(directory: &Text, path: &Text, environment: &str) -> Self {
        let known = Known {
            environment,
            local: None,
        };
        Reach::build(directory, path, None, false, &known)
    }

    fn build(
        datadir: &Text,
        location: &Text,
        extension: Option<&str>,
        is_glob: bool,
        known: &Known<'_>,
    ) -> Self {
        let mut stretches = Stretches {
            is_glob,
            ..Stretches::default()
        };
        if !location.source().starts_with('/') {
            stretches.push_all(datadir, known);
            stretches.push_written("/");
        }
        stretches.push_all(location, known);
        if let Some(extension) = extension {
            stretches.push_extension(extension);
        }
        let mut reach = stretches.assemble();
        let joined = path::join(datadir.source(), location.source());
        reach.wants_directory = joined.ends_with('/') || joined.ends_with("/.");
        reach
    }

    /// The directory that all of the paths lie in, or are.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The path, where there is only one.
    pub fn only_path(&self) -> Option<&str> {
        self.after.is_empty().then_some(&*self.before)
    }

    /// Does it come from a glob? Those find no directories, and look for every name in a listing.
    pub fn is_glob(&self) -> bool {
        self.is_glob
    }

    /// What is left to match below a directory. Below two directories where it is the same, the same paths match.
    pub fn progress(&self, directory: &str) -> Progress<'_> {
        let path = [directory.trim_end_matches('/'), "/"].concat();
        let Some(mut rest) = path.strip_prefix(self.before.as_str()) else {
            let left = self.before.strip_prefix(path.as_str());
            return left.map_or(Progress::None, Progress::Before);
        };
        let mut is_after_slash = self.before.ends_with('/');
        let mut after = self.after.as_slice();
        while let [text, _, ..] = after {
            let Some(behind) = match_text(rest, text, is_after_slash) else {
                break;
            };
            rest = behind;
            is_after_slash = text.ends_with('/');
            after = after.get(1..).unwrap_or_default();
        }
        let next = after.first().map(String::as_str).unwrap_or_default();
        let is_begun = |end: &usize| next.get(..*end).is_some_and(|start| rest.ends_with(start));
        Progress::After {
            left: after,
            begun: (1..next.len()).filter(is_begun).collect(),
            collapsed: next
                .strip_prefix('/')
                .and_then(|tail| tail.strip_prefix(rest))
                .filter(|_| is_after_slash),
        }
    }

    /// The directories whose listings tell whether its paths are there, beside those below the root that gaps may
    /// lead to.
    pub fn listings(&self) -> impl Iterator<Item = &str> {
        let root = self.is_glob || self.wants_directory;
        let before_parents = self.through.iter().map(|directory| path::parent(directory));
        before_parents.chain(root.then_some(self.root()))
    }

    /// Is a path among them? It is absolute and has no `.`, `..` or doubled slashes.
    pub fn contains(&self, path: &str) -> bool {
        let Some(last) = self.after.last() else {
            return path == self.before;
        };
        // A gap at the end may leave a slash before it, which paths do not end in.
        self.fits(path) || last.is_empty() && self.fits(&[path, "/"].concat())
    }

    fn fits(&self, path: &str) -> bool {
        let (Some(mut rest), Some((last, middle))) = (
            path.strip_prefix(self.before.as_str()),
            self.after.split_last(),
        ) else {
            return false;
        };
        let mut is_after_slash = self.before.ends_with('/');
        for text in middle {
            let Some(behind) = match_text(rest, text, is_after_slash) else {
                return false;
            };
            rest = behind;
            is_after_slash = text.ends_with('/');
        }
        rest.ends_with(last.as_str()) || is_after_slash && last.strip_prefix('/') == Some(rest)
    }
}

/// What follows a gap and a text that is in `rest`, as early as possible.
fn match_text<'r>(rest: &'r str, text: &str, is_after_slash: bool) -> Option<&'r str> {
    // An empty gap between two slashes leaves one of them.
    let collapsed = text.strip_prefix('/').filter(|_| is_after_slash);
    let behind = collapsed.and_then(|tail| rest.strip_prefix(tail));
    behind.or_else(|| Some(rest.split_once(text)?.1))
}

/// What is left of a [`Reach`] to match.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Nothing can match any more.
    None,
    /// The rest of what stands before the first gap.
    Before(&'a str),
    /// What comes after a gap.
    After {
        /// The texts that are left.
        left: &'a [String],
        /// How much of the first of them may have been matched.
        begun: Vec<usize>,
        /// What is left of it where the gap is empty and stands between two slashes.
        collapsed: Option<&'a str>,
    },
}

/// What is known of variables before anyone asks.
struct Known<'a> {
    environment: &'a str,
    /// The variable that `mapped_paths` sets, which hides others.
    local: Option<&'a str>,
}

impl Known<'_> {
    /// The value of a variable that no request can set.
    fn value(&self, variable: &Variable) -> Option<&str> {
        let (name, segments) = variable.path.as_ref().ok()?;
        if self.local.is_some_and(|local| local == name.as_str()) {
            return None;
        }
        let is_environment = segments.is_empty() && bare_name(name) == "environment"
            || bare_name(&variable.text) == "server_facts.environment";
        is_environment.then_some(self.environment)
    }
}

/// A stretch of a location.
#[derive(Clone, Debug, PartialEq)]
enum Stretch {
    Text(String),
    Gap {
        /// How many `..` may come out of it. Variables give none: a path that they lead out is refused.
        parents: usize,
    },
}

/// A location while it is taken apart.
#[derive(Default)]
struct Stretches {
    list: Vec<Stretch>,
    is_glob: bool,
    /// Braces of a glob that are open.
    braces: usize,
    /// What stands in them.
    in_braces: String,
    is_in_class: bool,
    is_escaped: bool,
}

impl Stretches {
    fn push_all(&mut self, text: &Text, known: &Known<'_>) {
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

    fn push_written(&mut self, text: &str) {
        match self.is_glob {
            true => self.push_glob(text),
            false => self.push_text(text),
        }
    }

    fn push_text(&mut self, text: &str) {
        match self.list.last_mut() {
            Some(Stretch::Text(last)) => last.push_str(text),
            _ => self.list.push(Stretch::Text(text.to_owned())),
        }
    }

    fn push_gap(&mut self, more: usize) {
        // A backslash before a variable is for its first character.
        self.is_escaped = false;
        match self.list.last_mut() {
            Some(Stretch::Gap { parents }) => *parents += more,
            _ => self.list.push(Stretch::Gap { parents: more }),
        }
    }

    /// Appends text of a glob, in which everything that is special is a gap.
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

    /// What paths end in, whether their own text or what is appended to it has that ending.
    fn push_extension(&mut self, extension: &str) {
        if let Some(Stretch::Text(last)) = self.list.last_mut() {
            if last.ends_with(extension) {
                return;
            }
            if self.list.len() > 1
                && let Some(Stretch::Text(last)) = self.list.last()
                && extension.ends_with(last.as_str())
            {
                // The variable before it may end in the rest of the extension.
                self.list.pop();
            }
        }
        self.push_text(extension);
    }

    /// The components between slashes, `.` and `..` resolved.
    fn components(self, through: &mut Vec<String>) -> Vec<Vec<Stretch>> {
        let mut written = vec![Vec::new()];
        for stretch in self.list {
            let Stretch::Text(text) = &stretch else {
                if let Some(last) = written.last_mut() {
                    last.push(stretch);
                }
                continue;
            };
            for (index, name) in text.split('/').enumerate() {
                if index > 0 {
                    written.push(Vec::new());
                }
                if let (Some(last), false) = (written.last_mut(), name.is_empty()) {
                    last.push(Stretch::Text(name.to_owned()));
                }
            }
        }
        let mut components: Vec<Vec<Stretch>> = Vec::new();
        for component in written {
            match component.as_slice() {
                [] => {}
                [Stretch::Text(name)] if name == "." => {}
                [Stretch::Text(name)] if name == ".." => {
                    through.extend(fixed_path(&components));
                    pop(&mut components);
                }
                stretches if stretches.iter().any(Stretch::is_gap) => {
                    let mut parents: usize = stretches.iter().map(Stretch::parents).sum();
                    // Dots may come to a `.` of their own, which vanishes, or to `..`: where the variables beside two of
                    // them are empty, or braces give the second.
                    let has_dots = stretches.iter().any(Stretch::is_dots);
                    let is_parent =
                        |it: &Stretch| matches!(it, Stretch::Text(text) if text == "..");
                    let has_parent = stretches.iter().any(is_parent);
                    parents += usize::from(has_parent || self.is_glob && has_dots);
                    let mut rest = component.clone();
                    rest.retain(|stretch| !stretch.is_dots());
                    rest.dedup_by(|next, last| next.is_gap() && last.is_gap());
                    components.push(rest);
                    (0..parents).for_each(|_| pop(&mut components));
                }
                _ => components.push(component),
            }
        }
        components
    }

    fn assemble(self) -> Reach {
        let is_glob = self.is_glob;
        let mut reach = Reach {
            root: String::new(),
            before: String::new(),
            after: Vec::new(),
            is_glob,
            through: Vec::new(),
            wants_directory: false,
        };
        let components = self.components(&mut reach.through);
        for component in components {
            if reach.after.is_empty() {
                reach.root.clone_from(&reach.before);
            }
            reach.push("/");
            for stretch in &component {
                match stretch {
                    Stretch::Text(text) => reach.push(text),
                    Stretch::Gap { .. } => reach.after.push(String::new()),
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

impl Stretch {
    fn is_gap(&self) -> bool {
        matches!(self, Stretch::Gap { .. })
    }

    fn is_dots(&self) -> bool {
        matches!(self, Stretch::Text(text) if path::is_only_dots(text))
    }

    fn parents(&self) -> usize {
        match self {
            Stretch::Text(_) => 0,
            Stretch::Gap { parents } => *parents,
        }
    }
}

/// The path of components without gaps.
fn fixed_path(components: &[Vec<Stretch>]) -> Option<String> {
    let mut path = String::new();
    for component in components {
        let [Stretch::Text(name)] = component.as_slice() else {
            return None;
        };
        path.push('/');
        path.push_str(name);
    }
    (!path.is_empty()).then_some(path)
}

/// Goes to the parent. What lies behind a gap may be any number of directories, or none: then it is the parent of what
/// stands before the gap.
fn pop(components: &mut Vec<Vec<Stretch>>) {
    let has_gap = |component: &Vec<Stretch>| component.iter().any(Stretch::is_gap);
    match components.iter().position(has_gap) {
        None => _ = components.pop(),
        Some(first) => {
            components.truncate(first);
            components.pop();
            components.push(vec![Stretch::Gap { parents: 0 }]);
        }
    }
}

#[cfg(test)]
mod tests;
