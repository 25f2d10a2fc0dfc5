//! What `GET /environments` and `GET /environments/{environment}` show.

use super::FIXTURE;
use crate::support::TestServer;

#[test]
fn environments_are_listed_with_state_revision_time_files_keys_and_last_fault() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get("/environments");
    let list = reply.json();
    for name in ["production", "faulty"] {
        let environment = &list["environments"][name];
        assert!(environment["revision"].is_string(), "{environment}");
        let time = environment["loaded_at"].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
    insta::assert_snapshot!(reply.shown(&server));
}

#[test]
fn an_environment_is_shown_with_its_layers_and_hierarchy_as_configured() {
    let server = TestServer::new(FIXTURE);
    insta::assert_snapshot!(server.get("/environments/production").shown(&server));
}

#[test]
fn a_faulty_environment_is_shown_with_the_position_of_its_fault() {
    let server = TestServer::new(FIXTURE);
    let reply = server.get("/environments/faulty");
    let shown = reply.json();
    assert_eq!(shown["state"], "faulty");
    assert_eq!(shown["faults"][0]["line"], 2, "{shown}");
    insta::assert_snapshot!(reply.shown(&server));
}
