use super::*;

/// What the judge says to an answer to a request with this recorded answer.
fn verdict(request: &str, flags: &[&str], expected: &str, answer: &Answer) -> Result<(), String> {
    let (request, expected) = (
        Json::parse(request).unwrap(),
        Json::parse(expected).unwrap(),
    );
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let question = Question {
        request: &request,
        flags: &flags,
        line: 1,
        expected: &expected,
    };
    judge(&question, answer).map_err(|difference| difference.to_string())
}

/// Compares the reply to a lookup without explanation.
#[track_caller]
fn check(expected: &str, status: u16, body: &str, verdict_expected: Result<(), &str>) {
    let answer = Answer::from_json_reply(status, body).unwrap();
    let verdict = verdict(r#"{"key": "k"}"#, &[], expected, &answer);
    let verdict_expected = verdict_expected.map_err(str::to_owned);
    assert_eq!(verdict, verdict_expected, "{body}");
}

#[test]
fn values_are_compared_with_order_and_kind() {
    let expected = r#"{"status": "found", "value": {"a": 1, "b": 2.0}, "sensitive": false}"#;
    check(expected, 200, r#"{"value": {"a": 1, "b": 2.0}}"#, Ok(()));
    for (other, shown) in [
        (r#"{"b": 2.0, "a": 1}"#, r#"{"b": 2.0, "a": 1}"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"a": 1, "b": 2}"#),
    ] {
        let difference = format!(r#"value {shown}; Puppet: {{"a": 1, "b": 2.0}}"#);
        let body = format!(r#"{{"value": {other}}}"#);
        check(expected, 200, &body, Err(&difference));
    }
    check(
        expected,
        200,
        r#"{"value": {"a": 1, "b": 2.0}, "sensitive": true}"#,
        Err("sensitive is true; should be false"),
    );
}

#[test]
fn outcomes_are_compared() {
    let not_found = r#"{"type": "/problems/key-not-found"}"#;
    let failed = r#"{"type": "/problems/lookup-failed"}"#;
    let found = r#"{"value": 1}"#;
    let recorded = [
        r#"{"status": "found", "value": 1}"#,
        r#"{"status": "not_found"}"#,
        r#"{"status": "error"}"#,
    ];
    for (index, expected) in recorded.iter().enumerate() {
        for (other, (status, body)) in [(200, found), (404, not_found), (422, failed)]
            .iter()
            .enumerate()
        {
            let answer = Answer::from_json_reply(*status, body).unwrap();
            let verdict = verdict(r#"{"key": "k"}"#, &[], expected, &answer);
            assert_eq!(verdict.is_ok(), index == other, "{expected} {body}");
        }
    }
}

#[test]
fn other_refusals_are_accepted_only_with_their_flag() {
    let error = r#"{"status": "error"}"#;
    let unknown = r#"{"type": "/problems/unknown-environment"}"#;
    for (status, body, flag) in [
        (400, r#"{"type": "/problems/bad-request"}"#, "badreq"),
        (404, unknown, "unknown_env"),
    ] {
        let answer = Answer::from_json_reply(status, body).unwrap();
        let request = r#"{"key": "k"}"#;
        assert_eq!(verdict(request, &[flag], error, &answer), Ok(()));
        assert!(verdict(request, &[], error, &answer).is_err(), "{body}");
    }
}

#[test]
fn an_explanation_may_order_its_keys_but_not_its_values() {
    let request = r#"{"key": "k", "explain": true}"#;
    let expected =
        r#"{"status": "found", "value": 1, "explain_json": {"a": [1], "value": {"x": 1, "y": 2}}}"#;
    let explained = |explanation: &str| {
        let body = format!(r#"{{"value": 1, "explanation": {explanation}}}"#);
        let answer = Answer::from_json_reply(200, &body).unwrap();
        verdict(request, &[], expected, &answer)
    };
    assert_eq!(
        explained(r#"{"value": {"x": 1, "y": 2}, "a": [1]}"#),
        Ok(())
    );
    for (explanation, difference) in [
        (
            r#"{"value": {"y": 2, "x": 1}, "a": [1]}"#,
            r#"explanation.value: {"y": 2, "x": 1}; should be {"x": 1, "y": 2}"#,
        ),
        (
            r#"{"value": {"x": 1, "y": 2}, "a": [2]}"#,
            "explanation.a[0]: 2; should be 1",
        ),
        (
            r#"{"value": {"x": 1, "y": 2}}"#,
            r#"explanation: keys missing ["a"], keys extra []"#,
        ),
    ] {
        assert_eq!(explained(explanation), Err(difference.to_owned()));
    }
    let answer = Answer::from_json_reply(200, r#"{"value": 1}"#).unwrap();
    let verdict = verdict(request, &[], expected, &answer);
    assert_eq!(verdict, Err("no explanation".to_owned()));
}

#[test]
fn texts_are_compared_line_by_line() {
    let request = r#"{"key": "k", "explain": true}"#;
    let expected = r#"{"status": "found", "value": 1, "explain_text": "a\nb\n"}"#;
    let alone = r#"{"status": "error", "told": false}"#;
    let text = |status, kind, body| Answer::from_text_reply(status, kind, body).unwrap();
    let good = text(200, "text/plain; charset=utf-8", "a\nb\n");
    assert_eq!(verdict(request, &[], expected, &good), Ok(()));
    assert!(verdict(request, &[], alone, &good).is_err());
    let other = text(200, "text/plain", "a\nc\n");
    let difference = r#"line 2 is "c"; should be "b""#.to_owned();
    assert_eq!(verdict(request, &[], expected, &other), Err(difference));
    let missing = text(404, "text/plain", "a\nb\n");
    assert!(verdict(request, &[], expected, &missing).is_err());
    let problem = text(422, "application/problem+json", "{}");
    assert_eq!(verdict(request, &[], alone, &problem), Ok(()));
    assert!(verdict(request, &[], expected, &problem).is_err());
    assert!(Answer::from_text_reply(200, "application/json", "{}").is_err());
}

#[test]
fn entries_of_a_batch_are_answers() {
    let of = |entry: &str| match Answer::from_batch_entry(&Json::parse(entry).unwrap()) {
        Answer::Data { outcome, .. } => outcome,
        other => panic!("{other:?}"),
    };
    let value = Json::Integer("1".to_owned());
    let sensitive = true;
    assert_eq!(
        of(r#"{"value": 1, "sensitive": true}"#),
        Outcome::Found { value, sensitive }
    );
    let error = r#"{"error": {"type": "/problems/key-not-found", "status": 404}}"#;
    assert_eq!(of(error), Outcome::NotFound);
    let error = r#"{"error": {"type": "/problems/lookup-failed", "status": 422}}"#;
    assert_eq!(of(error), Outcome::Failed);
}
