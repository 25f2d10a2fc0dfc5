//! `--explain` and `--explain-options`.

use super::run;

#[test]
fn an_explanation_is_text_by_default() {
    let (code, stdout, _) = run("package --facts @/facts.json --explain");
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("explain", stdout);
    let (code, stdout, _) = run("package --explain --render-as json");
    let parsed: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, Some(0));
    assert!(parsed["branches"].is_array(), "{stdout}");
    let (code, stdout, _) = run("package --explain --render-as yaml");
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("---\nbranches:\n"), "{stdout}");
}

#[test]
fn a_lookup_that_finds_nothing_is_explained_and_exits_with_0_like_puppet() {
    let (code, stdout, _) = run("no --explain");
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("did not find a value for the name 'no'"),
        "{stdout}"
    );
}

#[test]
fn an_error_that_is_not_in_the_explanation_is_printed_alone_like_puppet() {
    for form in ["", " --render-as json"] {
        let (code, stdout, stderr) = run(&format!("who --type Integer --explain{form}"));
        assert_eq!(code, Some(1));
        assert_eq!(stdout, "");
        assert!(stderr.contains("expects an Integer value"), "{stderr}");
    }
}

#[test]
fn lookup_options_are_explained_with_and_without_a_key() {
    for arguments in ["--explain-options", "secret --explain-options"] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(
            stdout.contains("lookup_options") && stdout.contains("convert_to"),
            "{stdout}"
        );
        assert!(!stdout.contains("hunter2"), "{stdout}");
    }
}
