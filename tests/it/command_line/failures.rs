//! Lookups without a value and wrong usage: messages and exit codes.

use super::{check_failure, run};
use crate::support::{hierad, printed};

#[test]
fn a_lookup_that_finds_nothing_prints_nothing_and_exits_with_1() {
    check_failure("no", 1, "");
}

#[test]
fn a_failed_lookup_prints_the_reason_and_exits_with_1() {
    check_failure("broken", 1, "[broken]");
    check_failure("who.x", 1, "who.x");
}

#[test]
fn an_unknown_environment_is_named() {
    check_failure("who --environment nowhere", 1, "`nowhere`");
    check_failure(
        "who --environment ../environments/production",
        1,
        "there is no environment",
    );
}

#[test]
fn an_unusable_facts_file_is_named() {
    check_failure("who --facts @/none.yaml", 1, "<ROOT>/none.yaml");
    check_failure("who --facts @/list.yaml", 1, "<ROOT>/list.yaml");
    check_failure("who --facts @/broken.yaml", 1, "<ROOT>/broken.yaml");
}

#[test]
fn a_usage_error_exits_with_2() {
    for arguments in [
        "who --no-such-flag",
        "who --render-as xml",
        "who --node",
        "who --explain=5",
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(
            (code, stdout.as_str()),
            (Some(2), ""),
            "{arguments}: {stderr}"
        );
    }
    for arguments in [&[][..], &["nonsense"], &["serve", "x"]] {
        assert_eq!(
            hierad().args(arguments).output().unwrap().status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
}

#[test]
fn flags_that_do_not_go_together_are_a_usage_error() {
    for (arguments, message) in [
        ("", "key"),
        ("who --merge sum", "--merge"),
        ("users --sort-merged-arrays", "--merge deep"),
        ("users --merge hash --knock-out-prefix=--", "--merge deep"),
        ("who --type Strin[", "--type"),
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!(
            (code, stdout.as_str()),
            (Some(2), ""),
            "{arguments}: {stderr}"
        );
        assert!(stderr.contains(message), "{arguments}: {stderr}");
    }
}

#[test]
fn a_missing_code_directory_is_named() {
    for command in ["lookup", "check", "serve"] {
        let mut process = hierad();
        process.args([command, "--codedir", "/no/such/directory"]);
        if command == "lookup" {
            process.arg("k");
        }
        let output = process.output().unwrap();
        let (_, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert!(stderr.contains("/no/such/directory"), "{command}: {stderr}");
    }
}
