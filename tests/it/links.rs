//! Relative links in Markdown files lead to files and headings that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories that hold build output or fixtures rather than documents of the project.
const SKIPPED: [&str; 5] = ["target", ".git", "fuzz-out", "node_modules", "corpus"];

fn markdown_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if !SKIPPED.iter().any(|skipped| name == *skipped) {
                markdown_files(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

/// The text outside of code blocks.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            prose += line;
            prose.push('\n');
        }
    }
    prose
}

/// The anchors that GitHub gives the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(page).lines() {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let repeated = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = std::iter::once(anchor.clone()).chain(repeated);
        anchors.insert(names.find(|name| !anchors.contains(name)).unwrap());
    }
    anchors
}

/// The targets of the links and pictures of a page, without those that lead to other sites.
fn relative_links(page: &str) -> Vec<String> {
    let prose = prose(page);
    // Text in backticks is code, which may look like a link.
    let outside_code: String = prose.split('`').step_by(2).collect();
    let inline = outside_code
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target);
    let by_reference = outside_code
        .lines()
        .filter(|line| line.starts_with('['))
        .filter_map(|line| line.split_once("]: "))
        .map(|(_, target)| target);
    inline
        .chain(by_reference)
        .map(|target| target.split_whitespace().next().unwrap_or_default())
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .map(str::to_owned)
        .collect()
}

/// What is wrong with a link on a page, if anything.
fn problem(file: &Path, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() {
        file.to_owned()
    } else {
        file.parent().unwrap().join(path)
    };
    if !target.exists() {
        return Some(format!("no such file: {path}"));
    }
    let is_page = target
        .extension()
        .is_some_and(|extension| extension == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let anchors = anchors(&fs::read_to_string(&target).unwrap());
    (!anchors.contains(anchor)).then(|| format!("no heading for #{anchor}, there are {anchors:?}"))
}

#[test]
fn relative_links_in_markdown_have_a_target() {
    let mut files = Vec::new();
    markdown_files(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
    let (mut count, mut problems) = (0, Vec::new());
    for file in &files {
        for link in relative_links(&fs::read_to_string(file).unwrap()) {
            count += 1;
            let problem = problem(file, &link);
            problems
                .extend(problem.map(|problem| format!("{}: {link}: {problem}", file.display())));
        }
    }
    assert!(count > 50, "only {count} links in {} files", files.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn broken_links_are_recognized() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = "[a](nosuch.md) and [b](docs/api.md#nosuch)\n```\n[c](code)\n```\n`[d](code)`\n\
        [e](docs/api.md#errors) [f](https://example.com/)\n[g]: nosuch.md\n";
    let links = relative_links(page);
    assert_eq!(
        links,
        [
            "nosuch.md",
            "docs/api.md#nosuch",
            "docs/api.md#errors",
            "nosuch.md"
        ]
    );
    let broken: Vec<bool> = links
        .iter()
        .map(|link| problem(&readme, link).is_some())
        .collect();
    assert_eq!(broken, [true, true, false, true]);
}
