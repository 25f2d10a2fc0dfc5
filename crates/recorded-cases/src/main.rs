//! `recorded-cases`: the reader and the judge for the tools of `tests/conformance/recorder`, by JSON lines.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use recorded_cases::{Answer, Case, Difference, Json, Question, judge, load};

const USAGE: &str = "usage: recorded-cases list DIRECTORY\n       recorded-cases judge";

/// What a program can end with.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["list", directory] => list(Path::new(directory)),
        ["judge"] => judge_lines(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("recorded-cases: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints every case of a directory.
fn list(directory: &Path) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for case in load(directory)? {
        writeln!(out, "{}", listed(&case))?;
    }
    Ok(())
}

fn listed(case: &Case) -> String {
    let files = case.files.iter().map(|(path, content)| {
        let content = content
            .as_deref()
            .map_or("null".to_owned(), string_of_bytes);
        format!("[{}, {content}]", string(path))
    });
    let links = case.links.iter();
    let links = links.map(|(path, target)| format!("[{}, {}]", string(path), string(target)));
    let questions = case.questions.iter().map(|question| {
        let answer = |answer: &Option<Json>| answer.clone().unwrap_or(Json::Null).to_string();
        let flags = question.flags.iter().map(|flag| string(flag));
        format!(
            r#"{{"request": {}, "flags": [{}], "line": {}, "want": {}, "want8": {}}}"#,
            question.request,
            joined(flags),
            question.line,
            answer(&question.answer),
            answer(&question.answer_of_8),
        )
    });
    format!(
        r#"{{"topic": {}, "name": {}, "files": [{}], "links": [{}], "asks": [{}]}}"#,
        string(&case.topic),
        string(&case.name),
        joined(files),
        joined(links),
        joined(questions),
    )
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn string(text: &str) -> String {
    Json::Text(text.to_owned()).to_string()
}

/// A string in which `\udcff` is the byte 0xff where the bytes are not UTF-8, as in Python's `surrogateescape`.
fn string_of_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let quoted = string(chunk.valid());
        let inside = quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        out += inside.unwrap_or_default();
        for byte in chunk.invalid() {
            out += &format!("\\udc{byte:02x}");
        }
    }
    out + "\""
}

/// Reads an answer a line and prints how it differs from the recorded one.
fn judge_lines() -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let difference = match judge_line(&Json::parse(&line?)?)? {
            Ok(()) => Json::Null,
            Err(Difference(text)) => Json::Text(text),
        };
        writeln!(out, r#"{{"difference": {difference}}}"#)?;
        out.flush()?;
    }
    Ok(())
}

/// The verdict on one line; `Err` if the line cannot be used.
fn judge_line(line: &Json) -> Result<Result<(), Difference>, Failure> {
    let asked = member(line, "question")?;
    let flags = texts(member(asked, "flags")?)?;
    let question = Question {
        request: member(asked, "request")?,
        flags: &flags,
        line: 0,
        expected: member(asked, "want")?,
    };
    let reply = member(line, "reply")?;
    let Json::Integer(status) = member(reply, "status")? else {
        return Err("`status` is not a number".into());
    };
    let (status, body) = (status.parse()?, text(member(reply, "body")?)?);
    let answer = match text(member(reply, "accept")?)? {
        "text/plain" => Answer::from_text_reply(status, text(member(reply, "type")?)?, body),
        _ => Answer::from_json_reply(status, body),
    };
    let Json::Array(replacements) = member(line, "replace")? else {
        return Err("`replace` is not a list".into());
    };
    let mut answer = match answer {
        Ok(answer) => answer,
        Err(difference) => return Ok(Err(difference)),
    };
    for pair in replacements {
        let pair = texts(pair)?;
        let [old, new] = pair.as_slice() else {
            return Err("`replace` has pairs of texts".into());
        };
        answer = answer.replace(old, new);
    }
    Ok(judge(&question, &answer))
}

fn member<'a>(json: &'a Json, name: &str) -> Result<&'a Json, Failure> {
    let found = json.get(name);
    found.ok_or_else(|| format!("no `{name}`").into())
}

fn text(json: &Json) -> Result<&str, Failure> {
    json.as_text()
        .ok_or_else(|| format!("not a text: {json}").into())
}

fn texts(json: &Json) -> Result<Vec<String>, Failure> {
    match json {
        Json::Array(items) => items
            .iter()
            .map(|item| Ok(text(item)?.to_owned()))
            .collect(),
        _ => Err(format!("not a list: {json}").into()),
    }
}
