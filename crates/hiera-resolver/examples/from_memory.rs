//! A lookup in an environment that exists only in memory.
//!
//! `cargo run -p hiera-resolver --example from_memory`
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use hiera_resolver::{Environment, Node, Outcome};
use serde_json::json;

const HIERARCHY: &str = r#"
version: 5
hierarchy:
  - {name: "One node", path: "nodes/%{trusted.certname}.yaml"}
  - {name: "A location", path: "locations/%{facts.location}.yaml"}
  - {name: "Everything", path: common.yaml}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let environment = Environment::builder()
        .hiera_yaml(HIERARCHY)
        .file(
            "data/locations/belfast.yaml",
            "ntp: {servers: [time.belfast.example.com]}",
        )
        .file(
            "data/common.yaml",
            "lookup_options: {ntp: {merge: deep}}\nntp: {servers: [time.example.com], panic: 0}",
        )
        .build();

    let node = Node::new("production")
        .certname("thrush.example.com")
        .facts_json(json!({"location": "belfast"}))?;

    match environment.lookup("ntp.servers", &node)? {
        Outcome::Found(value) => println!(
            "{}",
            hiera_resolver::puppet_types::convert::stringify(&value)
        ),
        Outcome::NotFound => println!("not found"),
    }
    println!("{}", environment.explain("ntp.servers", &node));
    Ok(())
}
