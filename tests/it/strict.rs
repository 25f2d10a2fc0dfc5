//! The setting `strict`: what fails as in Puppet 8, and what passes as in Puppet 7.

mod files;
mod variables;

use serde_json::{Value, json};

use crate::support::TestServer;

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: list
    path: "%{facts.odd}.yaml"
  - name: paths
    paths: ["%{nosuch}.yaml", "%{::nosuch}/x.yaml"]
  - name: globs
    glob: "%{nosuch}/*.yaml"
  - name: mapped
    mapped_paths: [nosuch, item, "%{item}%{other}.yaml"]
  - name: common
    path: common.yaml
//- /data/list.yaml
[a, b]
//- /data/text.yaml
just a text
//- /data/number.yaml
12
//- /data/yes.yaml
true
//- /data/false.yaml
false
//- /data/null.yaml
~
//- /data/empty.yaml
# nothing
//- /data/common.yaml
plain: 1
simple: "<%{nosuch}>"
top: "<%{::nosuch}>"
function: "<%{scope('nosuch')}>"
dug: "<%{nosuch.member}>"
namespaced: "<%{some::nosuch}>"
in_a_key: {"%{nosuch}": 1}
nested: "<%{lookup('simple')}>"
aliased: "%{alias('simple')}"
own: "%{::caller_module_name}"
fact_member: "<%{facts.nosuch}>"
deep_member: "<%{facts.nosuch.deeper}>"
trusted_member: "<%{trusted.extensions.nosuch}>"
list_member: "<%{list.7}>"
empty: "<%{nothing}>"
module_name: "<%{module_name}%{::module_name}%{caller_module_name}>"
matched: "<%{'0'}%{'12'}>"
nothing_at_all: "<%{}%{::}>"
"#;

fn request(key: &str) -> Value {
    json!({"key": key, "facts": {"list": [1], "nothing": null}})
}

fn strict() -> TestServer {
    TestServer::new(FIXTURE)
}

fn lenient() -> TestServer {
    TestServer::with_settings(FIXTURE, "strict: warning\n")
}

/// The reason why a lookup fails.
#[track_caller]
fn failure(server: &TestServer, request: &Value) -> String {
    server.tree.shown(&server.failure(request))
}
