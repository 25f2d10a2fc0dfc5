//! Paths as strings: joined as Ruby's `Pathname` joins them, since explanations show them and files are found by them.

/// What `Pathname(base) + path` gives. `base` is absolute.
///
/// Only leading `.` and `..` of the path are resolved, as far as the base has names for them; the rest stays as written.
pub fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut base = base.trim_end_matches('/');
    let mut rest = path;
    loop {
        let (first, behind) = rest.split_once('/').unwrap_or((rest, ""));
        let behind = behind.trim_start_matches('/');
        let last = base.rsplit_once('/');
        match (first, last) {
            (".", _) => rest = behind,
            (_, Some((above, "." | ""))) => base = above,
            // A `..` in the base stays, and so does what is before it.
            ("..", Some((_, ".."))) => break,
            ("..", _) => {
                base = last.map_or("", |(above, _)| above);
                rest = behind;
            }
            _ => break,
        }
    }
    match (base, rest) {
        ("", "") => "/".to_owned(),
        (base, "") => base.to_owned(),
        (base, rest) => [base, "/", rest].concat(),
    }
}

/// Is it a relative path that is joined as written: no component is empty, `.` or `..`?
pub(crate) fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|component| !matches!(component, "" | "." | ".."))
}

/// Can it be a component of a path, or a part of one?
pub(crate) fn is_within_component(name: &str) -> bool {
    memchr::memchr2(b'/', 0, name.as_bytes()).is_none()
}

/// Is it empty or only dots, and so `.`, `..` or nothing if it is a whole component?
pub(crate) fn is_only_dots(name: &str) -> bool {
    name.bytes().all(|byte| byte == b'.')
}

/// The same path without doubled slashes, `.` and `..`: the form in which snapshots keep files.
pub fn normalize(path: &str) -> std::borrow::Cow<'_, str> {
    if path.strip_prefix('/').is_some_and(is_plain) {
        return path.into();
    }
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => _ = components.pop(),
            name => components.push(name),
        }
    }
    format!("/{}", components.join("/")).into()
}

/// How many components of a path are `..`.
pub(crate) fn parents(path: &str) -> usize {
    path.split('/').filter(|name| *name == "..").count()
}

/// The parent directory of a path.
pub(crate) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_as_pathname_joins_them() {
        for (path, expected) in [
            ("data", "/a/b/data"),
            ("./data", "/a/b/data"),
            ("../data", "/a/data"),
            ("../../../data", "/data"),
            ("..", "/a"),
            ("", "/a/b"),
            ("/etc/x", "/etc/x"),
            ("x/../y.yaml", "/a/b/x/../y.yaml"),
            ("x//y", "/a/b/x//y"),
            ("../.././x", "/x"),
            ("../..", "/"),
            ("./../x", "/a/x"),
            ("..//x", "/a/x"),
            (".//x", "/a/b/x"),
            ("../", "/a"),
            ("./", "/a/b"),
            ("x/", "/a/b/x/"),
        ] {
            assert_eq!(join("/a/b", path), expected, "{path}");
        }
        for (base, path, expected) in [
            ("/a/b/..", "../x", "/a/b/../../x"),
            ("/a/b/..", "x", "/a/b/../x"),
            ("/a/b/..", "..", "/a/b/../.."),
            ("/a/b/.", "../x", "/a/x"),
            ("/a/b/.", "x", "/a/b/x"),
            ("/a/b/.", ".", "/a/b"),
            ("/a/./b", "../../x", "/x"),
            ("/a/../b", "../../x", "/a/../../x"),
            ("/a/b//", "../x", "/a/x"),
            ("/a//b", "../../x", "/x"),
            ("/..", "../x", "/../../x"),
        ] {
            assert_eq!(join(base, path), expected, "{base} and {path}");
        }
    }

    #[test]
    fn paths_are_normalized() {
        for (path, expected) in [
            ("/a/b.yaml", "/a/b.yaml"),
            ("/a//b.yaml", "/a/b.yaml"),
            ("/a/./x/../b.yaml", "/a/b.yaml"),
            ("/../a/", "/a"),
        ] {
            assert_eq!(normalize(path), expected);
        }
    }
}
