//! Output on a terminal: colours, and none with `NO_COLOR`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::process::PATIENCE;
use crate::support::{Tree, has_tool};

/// A command on a terminal of its own (util-linux's `script`), with or without `NO_COLOR`.
fn on_terminal(command: &str, no_color: Option<&str>) -> Child {
    let mut process = Command::new("script");
    process
        .args(["-qefc", command, "/dev/null"])
        .env("TERM", "xterm-256color")
        .env("HIERAD_DRAIN_DELAY_MS", "0")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if let Some(value) = no_color {
        process.env("NO_COLOR", value);
    }
    process.spawn().unwrap()
}

/// Everything that a command prints. A command that prints its process id is killed once it has printed the marker.
fn printed_until(mut child: Child, marker: &str) -> String {
    let (found, printed) = std::sync::mpsc::channel();
    let output = child.stdout.take().unwrap();
    let marker = marker.to_owned();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let (mut text, mut is_killed) = (String::new(), false);
        // A progress bar has no line ends; each update ends with a carriage return.
        let mut piece = Vec::new();
        while output.read_until(b'\r', &mut piece).unwrap_or(0) > 0 {
            text += &String::from_utf8_lossy(&piece);
            piece.clear();
            let pid = text.split_once("pid ").map(|(_, rest)| rest);
            let pid = pid.and_then(|rest| rest.split_whitespace().next());
            if let (Some(pid), false, true) = (pid, is_killed, text.contains(&marker)) {
                let kill = format!("kill -KILL {pid}");
                is_killed = Command::new("sh").args(["-c", &kill]).status().is_ok();
            }
        }
        _ = found.send(text);
    });
    let text = printed.recv_timeout(PATIENCE);
    _ = child.kill();
    _ = child.wait();
    text.expect("the command ends")
}

/// Whether there are escape sequences for colours and styles, such as `ESC[1m`.
fn has_colours(text: &str) -> bool {
    text.split("\x1b[").skip(1).any(|rest| {
        let end = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        end.starts_with('m')
    })
}

/// Checks that there are colours by default and with an empty `NO_COLOR`, and none if it is set.
#[track_caller]
fn check_no_color(command: &str, marker: &str) {
    for (no_color, expected) in [(None, true), (Some(""), true), (Some("1"), false)] {
        let text = printed_until(on_terminal(command, no_color), marker);
        assert!(text.contains(marker), "{text}");
        assert_eq!(has_colours(&text), expected, "{no_color:?}: {text:?}");
    }
}

const HIERAD: &str = env!("CARGO_BIN_EXE_hierad");

#[test]
fn help_has_no_colours_with_no_color() {
    if !has_tool("script") {
        return;
    }
    check_no_color(&format!("{HIERAD} --help"), "Usage");
}

#[test]
fn usage_errors_have_no_colours_with_no_color() {
    if !has_tool("script") {
        return;
    }
    check_no_color(&format!("{HIERAD} serve --nonsense; true"), "--nonsense");
}

#[test]
fn logs_and_progress_have_no_colours_with_no_color() {
    if !has_tool("script") {
        return;
    }
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n//- /.git/index.lock\n");
    let command = format!(
        "echo pid $$; exec {HIERAD} serve --listen 127.0.0.1:0 --codedir {}",
        tree.codedir().display()
    );
    // The server waits for the end of the checkout, and shows the progress bar meanwhile.
    check_no_color(&command, "files, ");
}
