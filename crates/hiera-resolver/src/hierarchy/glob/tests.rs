use super::*;

/// A tree of paths; a directory ends in `/`, a link to one in `@`.
struct Tree(Vec<String>);

impl Tree {
    fn new(paths: &str) -> Self {
        Tree(paths.split_whitespace().map(str::to_owned).collect())
    }
}

impl Directory for Tree {
    fn entries(&self, path: &str) -> Vec<DirectoryEntry> {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        let mut entries: Vec<DirectoryEntry> = Vec::new();
        for path in self.0.iter().filter_map(|path| path.strip_prefix(&prefix)) {
            let (name, kind) = match path.split_once('/') {
                Some((name, _)) => (name, EntryKind::Directory),
                None => (path, EntryKind::File),
            };
            let (name, kind) = match name.strip_suffix('@') {
                Some(name) => (name, EntryKind::LinkToDirectory),
                None => (name, kind),
            };
            let entry = DirectoryEntry {
                name: name.into(),
                kind,
            };
            if !name.is_empty() && !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries
    }
}

#[track_caller]
fn check(paths: &str, pattern: &str, expected: &str) {
    assert_eq!(
        expand(pattern, &Tree::new(paths)).unwrap().join(" "),
        expected
    );
}

#[test]
fn braces_are_expanded_in_each_directory() {
    check("/a/1 /a/2 /b/1 /b/2", "/*/{2,1}", "/a/2 /a/1 /b/2 /b/1");
}

#[test]
fn braces_below_recursion_are_in_the_order_of_names() {
    check("/d/1 /d/e/2", "/d/**/{e/2,1}", "/d/1");
    check("/d/1 /d/2", "/d/**/{2,1}", "/d/1 /d/2");
}

#[test]
fn nested_and_empty_alternatives() {
    check("/a /ab /ac /ad", "/a{,b,{d,c}}", "/a /ab /ad /ac");
    check("/a", "/{a", "");
    check("/a", r"/\{a", "");
    check("/x/a /y/b", "{/y,/x}/*", "/y/b /x/a");
}

#[test]
fn names_above_the_tree_need_no_listing() {
    check("/e/../a", "/e/../a", "");
    check("/e/d/x.yaml", "/e/./d//*.yaml", "/e/./d//x.yaml");
    check("/e/d/x.yaml /e/f/y", "/e/f/../d/*", "/e/f/../d/x.yaml");
    check("/e/d/x.yaml", "/e/missing/../d/*", "");
}

#[test]
fn a_trailing_slash_wants_a_directory() {
    check("/e/a", "/e/*/", "");
    check("/e/a", "/e/a/", "");
    check("/e/a", "/e/**/", "");
}

#[test]
fn sets() {
    check("/a /b /] /^ /-", "/[a-]", "/- /a");
    check("/a /b", "/[!a]", "/b");
    check("/a /b", "/[]", "");
    check("/a /b", "/[", "");
    check("/a /b", r"/[\a]", "/a");
    check("/.a /b", "/[.]a", "");
}

#[test]
fn hostile_patterns_end_soon() {
    let deep = (0..200).fold(String::new(), |path, _| path + "/a");
    check(&deep, &format!("{}/x", "/**/a".repeat(200)), "");
    check(
        &format!("/{}", "a".repeat(200)),
        &format!("/{}b", "*a".repeat(100)),
        "",
    );
    check("/a/b@ /a/b@/x", &format!("/a{}", "/.*".repeat(100_000)), "");
    check("/a", &format!("/{}a", "{".repeat(100_000)), "");
    check("/a", &format!("/{}a", "{a,".repeat(20_000)), "");
    let tree = Tree::new("/a");
    let refused = expand(&format!("/{}", "{a,b}".repeat(40)), &tree);
    assert_eq!(refused, Err(GlobError::TooManyAlternatives));
}

#[test]
fn escaped_text_stands_for_itself() {
    for text in ["*", "a?", "{a,b}", "[a-b]", "\\", "^!-"] {
        let mut pattern = "/".to_owned();
        escape_into(&mut pattern, text);
        check(&format!("/a /ab /b /{text}"), &pattern, &format!("/{text}"));
        // Behind a backslash of the pattern itself, the first character is escaped already.
        let mut pattern = "/\\".to_owned();
        escape_into(&mut pattern, text);
        check(&format!("/a /ab /b /{text}"), &pattern, &format!("/{text}"));
    }
    let mut pattern = "/{".to_owned();
    escape_into(&mut pattern, "b,a*");
    check("/a /b /a* /ab", &(pattern + "}"), "/b /a*");
}
