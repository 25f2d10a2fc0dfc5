use puppet_values::table_key::TableKey;

use super::*;
use crate::data::Texts;
use crate::data_functions::EYAML_LOOKUP_KEY;

fn file(path: &str, text: &str) -> Arc<DataFile> {
    let mut texts = Texts::default();
    let file = DataFile::decode(path, Format::YAML, text.as_bytes(), &mut texts);
    Arc::new(file)
}

#[test]
fn the_next_snapshot_shares_unchanged_files() {
    let entries = |names: &[&str]| -> Arc<[DirectoryEntry]> {
        let entry = |name: &&str| DirectoryEntry {
            name: (*name).into(),
            kind: EntryKind::File,
        };
        names.iter().map(entry).collect()
    };
    let files = ["/a", "/c", "/d"].map(|path| (Format::YAML, file(path, "k: 1")));
    let first = Snapshot::build(Parts {
        files: files.to_vec(),
        directories: vec![("/".into(), entries(&["a", "c", "d"]))],
        strictness: Strictness::default(),
        revision: "1".to_owned(),
        ..Parts::default()
    });
    let next = first.with(Differences {
        files: vec![
            (Format::YAML, file("/b", "k: 2")),
            (Format::YAML, file("/c", "k: 2")),
            (Format::new(&EYAML_LOOKUP_KEY, 7), file("/b", "k: 3")),
        ],
        removed: vec![(Format::YAML, "/d".into())],
        directories: vec![("/".into(), entries(&["a", "b", "c"]))],
        revision: "2".to_owned(),
    });
    let shown = |snapshot: &Snapshot| -> Vec<String> {
        let value = |file: &Arc<DataFile>| {
            format!(
                "{:?}",
                file.contents().unwrap().get(&TableKey::new("k".into()))
            )
        };
        let files = snapshot.files();
        files
            .map(|file| format!("{} {}", file.path(), value(file)))
            .collect()
    };
    let expected = ["/a Some(Int(1))", "/c Some(Int(1))", "/d Some(Int(1))"];
    assert_eq!(shown(&first), expected);
    assert_eq!(first.glob("/*").unwrap().len(), 3);
    let expected = [
        "/a Some(Int(1))",
        "/b Some(Int(2))",
        "/c Some(Int(2))",
        "/b Some(Int(3))",
    ];
    assert_eq!(shown(&next), expected);
    assert_eq!(next.glob("/*").unwrap(), ["/a", "/b", "/c"]);
    assert_eq!((first.revision(), next.revision()), ("1", "2"));
    let kept =
        [&first, &next].map(|snapshot| snapshot.files.files(Format::YAML).unwrap()["/a"].clone());
    assert!(Arc::ptr_eq(&kept[0], &kept[1]));
    assert!(next.file("/d", Format::YAML).is_none());
}

#[test]
fn unreadable_paths_are_faults_and_not_absent() {
    let layer = Layer::unreadable("/modules", &"refused");
    let snapshot = Snapshot::build(Parts {
        files: vec![(Format::YAML, file("/d/hidden/known", "k: 1"))],
        unreadable: vec![("/d/hidden".into(), "refused".to_owned())],
        unlisted_module: Some(layer),
        ..Parts::default()
    });
    let is_faulty = |path: &str| {
        let file = snapshot.file(path, Format::YAML);
        file.map(|file| file.contents().is_err())
    };
    assert_eq!(is_faulty("/d/hidden/known"), Some(false));
    assert_eq!(is_faulty("/d/hidden/other"), Some(true));
    assert_eq!(is_faulty("/d/hidden"), Some(true));
    assert_eq!(is_faulty("/d/hidden_not"), None);
    assert_eq!(snapshot.glob("/d/hidden/*").unwrap(), ["/d/hidden"]);
    assert!(snapshot.glob("/d/other/*").unwrap().is_empty());
    assert!(matches!(snapshot.module("any"), Some(Layer::Faulty(_))));
}
