//! Environments, health, metrics and revisions.

mod environments;
mod health;
mod metrics;
mod revisions;

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
defaults: {datadir: hieradata, data_hash: yaml_data}
hierarchy:
  - name: nodes
    path: "nodes/%{trusted.certname}.yaml"
  - name: groups
    globs: ["groups/*.yaml", "more/*.yaml"]
  - name: roles
    mapped_paths: [roles, role, "roles/%{role}.yaml"]
  - name: json
    data_hash: json_data
    paths: [a.json, b.json]
//- /hieradata/nodes/n1.yaml
a: 1
b: 2
//- /hieradata/nodes/n2.yaml
a: 3
//- /hieradata/groups/one.yaml
a: 4
//- /hieradata/a.json
{"j": 1}
//- /modules/ntp/hiera.yaml
version: 5
default_hierarchy: [{name: defaults, path: defaults.yaml}]
//- /modules/ntp/data/common.yaml
ntp::servers: []
//- /modules/bare/metadata.json
{}
//- C/environments/faulty/hiera.yaml
version: 5
//- C/environments/faulty/data/common.yaml
a: [1
//- G/hiera.yaml
version: 5
"#;
