//! [`LayerIndex`]: the files of a layer, found by what the variables in its paths come to.
//!
//! `nodes/%{trusted.certname}.yaml` is the same for every lookup but for a name. With the names known and hashed
//! once, each file is found by a hash, and no path is put together. Whatever is not as simple as that is left to
//! the plan.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;
use hashbrown::HashTable;
use puppet_values::Value;
use puppet_values::table_key::{TableKey, hash_of};
use smallvec::SmallVec;

use crate::data::{Contents, DataFile, Format};
use crate::hierarchy::{ConfigText, HieraConfig, LayerKind, Level, Locations, path};
use crate::lookup::options::{FileOptions, LookupOptions};
use crate::scope::Scope;
use crate::snapshot::Tree;
use crate::template::{Part, Token, Variable};

/// Files in the order of their paths.
pub(crate) type Files = indexmap::map::Slice<ArcStr, Arc<DataFile>>;

/// The files of a layer, by the paths of its hierarchy.
#[derive(Debug)]
pub struct LayerIndex {
    /// What makes the names in all paths, each once.
    sources: Vec<NameSource>,
    paths: Vec<PathIndex>,
    /// Which of the paths are those of each level; none where that depends on the files that are there,
    /// or there are too many for [`SurveyedFiles`].
    levels: Vec<Range<usize>>,
}

/// What a name in a path is made of: a variable, or several parts that make up a whole component.
#[derive(Debug, PartialEq)]
struct NameSource {
    parts: Vec<NamePart>,
}

#[derive(Debug)]
enum NamePart {
    Text(ArcStr),
    Variable(Variable),
}

impl PartialEq for NamePart {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (NamePart::Text(left), NamePart::Text(right)) => left == right,
            (NamePart::Variable(left), NamePart::Variable(right)) => left.text == right.text,
            _ => false,
        }
    }
}

/// The files that fit one path.
#[derive(Debug)]
struct PathIndex {
    pieces: Vec<Piece>,
    files: HashTable<Entry>,
    /// For paths that names which are not there make odd: where the path starts behind its directory.
    start: usize,
    format: Format,
}

/// A stretch of a path.
#[derive(Debug)]
enum Piece {
    Text(String),
    Name {
        /// Its place among the sources.
        source: usize,
        /// What is written beside it keeps its component from being `.` or `..`, or nothing.
        may_be_dots: bool,
    },
}

#[derive(Debug)]
struct Entry {
    /// Of the names in its path.
    hash: u64,
    file: Arc<DataFile>,
}

/// What the files of a layer hold for a node.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    /// Their `lookup_options`, compiled, the highest level first; `None` where some have to be worked out by the
    /// lookup.
    pub(crate) options: Option<SmallVec<[&'a LookupOptions; 4]>>,
    /// All files, where there is nothing else to search.
    pub(crate) files: Option<SurveyedFiles<'a>>,
}

/// The files that a node sees.
#[derive(Default)]
pub(crate) struct SurveyedFiles<'a> {
    /// Those that are there, in order.
    pub(crate) there: SmallVec<[&'a Contents; 8]>,
    /// Which of all paths lead to them: a bit for each.
    found: u64,
    /// Which of the paths are those of each level; none where only the plan tells.
    pub(crate) levels: &'a [Range<usize>],
}

impl<'a> SurveyedFiles<'a> {
    /// The first value of a key.
    pub(crate) fn first(&self, key: &TableKey) -> Option<&'a Value> {
        self.there.iter().find_map(|contents| contents.get(key))
    }

    /// What each path leads to under a key.
    pub(crate) fn all(&self, key: &TableKey) -> SmallVec<[Option<&'a Value>; 8]> {
        let paths = self.levels.last().map_or(0, |level| level.end);
        let mut there = self.there.iter();
        let is_there = |place| self.found >> place & 1 == 1;
        (0..paths)
            .map(|place| is_there(place).then(|| there.next())??.get(key))
            .collect()
    }
}

impl LayerIndex {
    /// Indexes a layer; `None` where some level is not just plain paths, or there are levels beside them. `files` gives
    /// all files of a format in the order of their paths.
    pub(crate) fn build<'a>(
        config: &HieraConfig,
        files: impl Fn(Format) -> &'a Files,
    ) -> Option<Self> {
        if config.default_levels().is_some() || is_read_twice(config, &files) {
            return None;
        }
        let mut sources = Vec::new();
        let mut paths = Vec::new();
        let mut levels = Vec::new();
        for level in config.levels() {
            let start = paths.len();
            let Locations::Paths(texts) = level.locations() else {
                return None;
            };
            if !level.reads_plain_files() {
                return None;
            }
            for text in texts {
                let pieces = pieces(level, text, &mut sources)?;
                paths.push(PathIndex::build(level, pieces, files(level.format())));
            }
            // Puppet's own configuration has no level for what is not there.
            if config.path().is_some() {
                levels.push(start..paths.len());
            }
        }
        if paths.len() > u64::BITS as usize {
            levels.clear();
        }
        Some(LayerIndex {
            sources,
            paths,
            levels,
        })
    }

    /// What the files that a node sees hold. `None`: something is not as simple as that, or wrong.
    pub(crate) fn survey<'a>(
        &'a self,
        config: &HieraConfig,
        tree: &'a dyn Tree,
        scope: &dyn Scope,
    ) -> Option<Survey<'a>> {
        let names = Names::of(&self.sources, scope)?;
        let mut options = Some(SmallVec::new());
        let mut files = SurveyedFiles {
            levels: &self.levels,
            ..SurveyedFiles::default()
        };
        for (place, path) in self.paths.iter().enumerate() {
            let Some(file) = path.find(&names, tree)? else {
                continue;
            };
            let contents = file.contents().ok()?;
            if let LayerKind::Module(module) = config.kind() {
                if contents.has_other_keys() {
                    return None;
                }
                if let FileOptions::Ready(compiled) = contents.options() {
                    compiled.check_namespace(module).ok()?;
                }
            }
            match (contents.options(), &mut options) {
                (FileOptions::None, _) => {}
                (FileOptions::Ready(compiled), Some(options)) => options.push(compiled.as_ref()),
                _ => options = None,
            }
            files.there.push(contents);
            files.found |= 1_u64.unbounded_shl(place as u32);
        }
        Some(Survey {
            options,
            files: Some(files),
        })
    }
}

/// Is there a file that several functions read? In the plan the first of them reads it for all.
fn is_read_twice<'a>(config: &HieraConfig, files: &impl Fn(Format) -> &'a Files) -> bool {
    let formats = config.levels().iter().map(Level::format);
    let mut formats: Vec<Format> = formats.filter(|format| format.is_plain()).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut others = formats.into_iter();
    while let Some(format) = others.next() {
        let is_here = |path: &ArcStr| files(format).binary_search_keys(path).is_ok();
        if others.clone().any(|other| files(other).keys().any(is_here)) {
            return true;
        }
    }
    false
}

/// What the names came to, in the order of their sources.
struct Names<'s> {
    known: SmallVec<[Name<'s>; 8]>,
}

struct Name<'s> {
    text: Cow<'s, str>,
    hash: u64,
}

impl<'s> Names<'s> {
    /// `None` where one cannot be worked out.
    fn of(sources: &[NameSource], scope: &'s dyn Scope) -> Option<Self> {
        let mut known = SmallVec::new();
        for source in sources {
            let text = source.text(scope)?;
            let hash = hash_of(&text);
            known.push(Name { text, hash });
        }
        Some(Names { known })
    }
}

impl NameSource {
    fn text<'s>(&self, scope: &'s dyn Scope) -> Option<Cow<'s, str>> {
        if let [NamePart::Variable(variable)] = self.parts.as_slice()
            && let Ok((name, segments)) = &variable.path
            && let Some(text) = scope.text(name, segments)
        {
            return Some(Cow::Borrowed(text));
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                NamePart::Text(more) => text.push_str(more),
                NamePart::Variable(variable) => _ = scope.write(variable, &mut text).ok()?,
            }
        }
        Some(Cow::Owned(text))
    }
}

impl PathIndex {
    fn build(level: &Level, pieces: Vec<Piece>, files: &Files) -> Self {
        let before = match pieces.first() {
            Some(Piece::Text(text)) => text.as_str(),
            _ => "",
        };
        let start = files.partition_point(|path, _| path.as_str() < before);
        let is_near = |path: &ArcStr| path.as_str() < before || path.starts_with(before);
        let end = files.partition_point(|path, _| is_near(path));
        let near = files.get_range(start..end).unwrap_or_default();
        let mut table = HashTable::with_capacity(near.len());
        for (path, file) in near {
            if let Some(hash) = hash_of_names(&pieces, path) {
                let file = Arc::clone(file);
                table.insert_unique(hash, Entry { hash, file }, |entry| entry.hash);
            }
        }
        table.shrink_to_fit(|entry| entry.hash);
        PathIndex {
            pieces,
            files: table,
            start: level.datadir().source().len() + 1,
            format: level.format(),
        }
    }

    /// The file that these names make the path lead to, if there is one; outer `None` where they do not just fill
    /// it in.
    fn find<'a>(&'a self, names: &Names<'_>, tree: &'a dyn Tree) -> Option<Option<&'a DataFile>> {
        let found = match self.pieces.as_slice() {
            [_] => self.files.find(0, |_| true),
            // Nearly all have one name, and all that fit are alike around it.
            [
                Piece::Text(before),
                Piece::Name { source, .. },
                Piece::Text(behind),
            ] => {
                let name = names.known.get(*source)?;
                let end = before.len() + name.text.len();
                self.files.find(combine(0, name.hash), |entry| {
                    let path = entry.file.path();
                    path.len() == end + behind.len()
                        && path.as_bytes().get(before.len()..end) == Some(name.text.as_bytes())
                })
            }
            pieces => {
                let hash = self
                    .names(names)
                    .fold(0, |hash, (name, _)| combine(hash, name.hash));
                let fits = |entry: &Entry| fits(pieces, names, entry.file.path());
                self.files.find(hash, fits)
            }
        };
        match found {
            Some(entry) => Some(Some(&entry.file)),
            None => self.find_odd(names, tree),
        }
    }

    /// The names in the path, each with whether it may be dots.
    fn names<'n, 's>(&self, names: &'n Names<'s>) -> impl Iterator<Item = (&'n Name<'s>, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Name {
                source,
                may_be_dots,
            } => Some((names.known.get(*source)?, *may_be_dots)),
        })
    }

    /// The same for names that are not in any path as they are.
    fn find_odd<'a>(&self, names: &Names<'_>, tree: &'a dyn Tree) -> Option<Option<&'a DataFile>> {
        let mut lacks_component = false;
        for (name, may_be_dots) in self.names(names) {
            if !path::is_within_component(&name.text) {
                return None;
            }
            if !may_be_dots && path::is_only_dots(&name.text) {
                if !name.text.is_empty() {
                    return None;
                }
                lacks_component = true;
            }
        }
        match lacks_component {
            true => Some(self.find_by_path(names, tree)),
            false => Some(None),
        }
    }

    /// The same where a component is nothing but a variable that is not set.
    fn find_by_path<'a>(&self, names: &Names<'_>, tree: &'a dyn Tree) -> Option<&'a DataFile> {
        let mut whole = String::with_capacity(128);
        for piece in &self.pieces {
            let text = match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Name { source, .. } => &names.known.get(*source)?.text,
            };
            match text.strip_prefix('/') {
                // Puppet: takes it for a path from the root of the disk.
                Some(_) if whole.len() == self.start => return None,
                // A component that is not there leaves one slash, not two.
                Some(behind) if whole.ends_with('/') => whole.push_str(behind),
                _ => whole.push_str(text),
            }
        }
        tree.file(whole.trim_end_matches('/'), self.format)
    }
}

/// The hash of several names in their order.
fn combine(hash: u64, name: u64) -> u64 {
    hash.rotate_left(7) ^ name
}

fn fits(pieces: &[Piece], names: &Names<'_>, path: &str) -> bool {
    let mut rest = path;
    for piece in pieces {
        let text = match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Name { source, .. } => names.known.get(*source).map(|name| &*name.text),
        };
        match text.and_then(|text| rest.strip_prefix(text)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.is_empty()
}

/// A path behind its directory, taken apart.
fn pieces(level: &Level, path: &ConfigText, sources: &mut Vec<NameSource>) -> Option<Vec<Piece>> {
    if !level.has_plain_path(path) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut text = format!("{}/", level.datadir().source());
    for (place, component) in components(path)?.into_iter().enumerate() {
        if place > 0 {
            text.push('/');
        }
        let is_variable = |part: &NamePart| matches!(part, NamePart::Variable(_));
        let variables = component.iter().filter(|part| is_variable(part)).count();
        let is_kept =
            |part: &NamePart| matches!(part, NamePart::Text(text) if !path::is_only_dots(text));
        let may_be_dots = component.iter().any(is_kept);
        let mut add = |text: &mut String, parts: Vec<NamePart>| {
            let new = NameSource { parts };
            let known = sources.iter().position(|source| *source == new);
            let source = known.unwrap_or(sources.len());
            if known.is_none() {
                sources.push(new);
            }
            pieces.push(Piece::Text(std::mem::take(text)));
            pieces.push(Piece::Name {
                source,
                may_be_dots,
            });
        };
        if variables > 1 {
            // Where one name ends and the next starts could not be told from a path: together they are one.
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
    Some(pieces)
}

/// The components of a path; `None` where it has tokens that are no variables.
fn components(path: &ConfigText) -> Option<Vec<Vec<NamePart>>> {
    let mut components = Vec::new();
    let mut component = Vec::new();
    for part in path.parts() {
        match part {
            Part::Text(text) => {
                for (place, more) in text.split('/').enumerate() {
                    if place > 0 {
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

/// What the names in a path hash to; `None` where it does not fit.
fn hash_of_names(pieces: &[Piece], path: &str) -> Option<u64> {
    let mut rest = path;
    let mut hash = 0;
    let mut pieces = pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => rest = rest.strip_prefix(text.as_str())?,
            Piece::Name { may_be_dots, .. } => {
                // A name ends with its component, less what is written behind it there.
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

#[cfg(test)]
mod tests {
    use puppet_values::Hash;

    use super::*;
    use crate::hierarchy::Layer;
    use crate::scope::Node;
    use crate::snapshot::{Parts, Snapshot};

    /// The number of files that are found with these facts: the file, or none; `None` where the way is not simple.
    fn found(path: &str, file: &str, facts: &[(&str, &str)]) -> Option<usize> {
        let hiera = format!("version: 5\nhierarchy: [{{name: l, path: \"{path}\"}}]");
        let layer = Layer::parse(
            LayerKind::Environment,
            "/e/hiera.yaml",
            "/",
            hiera.as_bytes(),
        );
        let file = DataFile::decode(file, Format::YAML, b"{}", &mut Default::default());
        let snapshot = Snapshot::build(Parts {
            environment: layer,
            files: vec![(Format::YAML, Arc::new(file))],
            ..Parts::default()
        });
        let facts = facts.iter();
        let facts: Hash = facts
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let scope = Node::new("e").facts(facts);
        let index = snapshot.layer_index(&LayerKind::Environment)?;
        let config = snapshot.environment().config().unwrap();
        let survey = index.survey(config, &snapshot, &scope)?;
        Some(survey.files.unwrap().there.len())
    }

    #[test]
    fn files_are_found_by_the_names_in_their_paths() {
        assert_eq!(found("common.yaml", "/e/data/common.yaml", &[]), Some(1));
        assert_eq!(found("other.yaml", "/e/data/common.yaml", &[]), Some(0));
        let one = |file, name| found("n/%{a}.yaml", file, &[("a", name)]);
        assert_eq!(one("/e/data/n/x.y.yaml", "x.y"), Some(1));
        assert_eq!(one("/e/data/n/x.y.yaml", "x"), Some(0));
        assert_eq!(one("/e/data/m/x.yaml", "x"), Some(0));
        let two = |a, b| found("%{a}/%{b}.yaml", "/e/data/p/q.yaml", &[("a", a), ("b", b)]);
        assert_eq!(two("p", "q"), Some(1));
        assert_eq!(two("q", "p"), Some(0));
        assert_eq!(
            found("a-%{a}-b/%{a}", "/e/data/a-x-b/x", &[("a", "x")]),
            Some(1)
        );
    }

    #[test]
    fn what_is_not_simple_is_left_to_the_plan() {
        let facts = [("a", "p"), ("b", "q")];
        for path in [
            "../n/%{a}.yaml",
            "n//%{a}.yaml",
            "/n/%{a}.yaml",
            "n/./%{a}.yaml",
            "%{lookup('a')}",
        ] {
            assert_eq!(found(path, "/e/data/p-q.yaml", &facts), None, "{path}");
        }
        let named = |path, name| found(path, "/e/data/n/.yaml", &[("a", name)]);
        for name in ["x/y", "../x", "x\0"] {
            assert_eq!(named("n/%{a}.yaml", name), None, "{name}");
        }
        for name in [".", "..", "..."] {
            assert_eq!(named("n/%{a}", name), None, "{name}");
        }
        assert_eq!(named("n/%{a}.yaml", ""), Some(1));
        assert_eq!(named("n/%{a}.yaml", ".."), Some(0));
        assert_eq!(named("n/%{a}", ".yaml"), Some(1));
        assert_eq!(named("n/%{a}/.yaml", ""), Some(1));
        assert_eq!(named("%{a}/n/.yaml", ""), Some(0));
    }

    #[test]
    fn names_that_touch_are_one() {
        let two = |path, a, b| found(path, "/e/data/p-q-r.yaml", &[("a", a), ("b", b)]);
        assert_eq!(two("%{a}-%{b}.yaml", "p", "q-r"), Some(1));
        assert_eq!(two("%{a}-%{b}.yaml", "p-q", "r"), Some(1));
        assert_eq!(two("%{a}-%{b}.yaml", "p", "q"), Some(0));
        assert_eq!(two("%{a}%{b}.yaml", "p-q", "-r"), Some(1));
        assert_eq!(two("%{a}%{b}", "", ".."), None);
    }
}
