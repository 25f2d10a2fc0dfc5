//! Questions that differ only in the key, asked as one batch.

use std::collections::BTreeMap;

use recorded_cases::{Answer, Difference, Json, Question};

use super::check;
use crate::support::TestServer;

/// Groups of two or more questions whose requests differ only in the key.
pub(super) fn groups<'a>(questions: &[Question<'a>]) -> Vec<Vec<Question<'a>>> {
    let mut groups: BTreeMap<String, Vec<Question<'a>>> = BTreeMap::new();
    for question in questions {
        if question.key().is_none() || !question.flags.is_empty() || question.is_explained() {
            continue;
        }
        let rest = question.request.clone().without("key");
        let rest = rest.members().iter();
        let mut rest: Vec<String> = rest
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        rest.sort();
        let group = groups.entry(rest.join(", ")).or_default();
        // A batch answers a key once.
        match group.iter_mut().find(|known| known.key() == question.key()) {
            Some(known) => *known = *question,
            None => group.push(*question),
        }
    }
    let groups = groups.into_values();
    groups.filter(|group| group.len() > 1).collect()
}

/// Asks the questions of a group as a batch, and returns the verdicts on their answers in order.
pub(super) fn ask(server: &TestServer, questions: &[Question<'_>]) -> Vec<Result<(), Difference>> {
    match results(server, questions) {
        Err(difference) => vec![Err(difference); questions.len()],
        Ok(results) => {
            let pairs = questions.iter().zip(results.members());
            let judged = pairs.map(|(question, (_, entry))| {
                check(question, Answer::from_batch_entry(entry), &server.tree)
            });
            judged.collect()
        }
    }
}

/// The `results` of a batch, which must have the keys in the order asked.
fn results(server: &TestServer, questions: &[Question<'_>]) -> Result<Json, Difference> {
    let keys = questions.iter();
    let keys = keys.filter_map(|question| question.request.get("key").cloned());
    let keys = Json::Array(keys.collect());
    let request = questions[0].request_for(server.tree.root());
    let request = request.without("key").with("keys", keys);
    let reply = server.post(request.to_string());
    let text = reply.text();
    if reply.status != 200 {
        return Err(Difference(format!("HTTP {}: {text}", reply.status)));
    }
    let body = Json::parse(&text).map_err(|error| Difference(error.to_string()))?;
    let results = body.get("results").cloned().unwrap_or(Json::Null);
    let answered: Vec<&str> = results
        .members()
        .iter()
        .map(|(key, _)| key.as_str())
        .collect();
    let asked: Vec<&str> = questions.iter().filter_map(Question::key).collect();
    match answered == asked {
        true => Ok(results),
        false => Err(Difference(format!(
            "results for {answered:?}; asked for {asked:?}"
        ))),
    }
}
