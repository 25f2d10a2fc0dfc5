//! Lookups over HTTP: everything but the rules of Hiera, which recorded cases test.

mod batches;
mod explanations;
mod queries;
mod secrets;
mod values;

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: os
    path: "os/%{facts.os.family}.yaml"
  - name: site
    path: "site/%{site}.yaml"
  - name: common
    path: common.yaml
//- /data/nodes/web1.example.com.yaml
who: web1
list: [node]
//- /data/os/Debian.yaml
package: apache2
list: [debian]
//- /data/site/pdx.yaml
place: Portland
//- /data/common.yaml
lookup_options:
  secret: {convert_to: Sensitive}
  version: {convert_to: [Integer]}
who: anybody
package: httpd
place: nowhere
list: [common]
nothing: ~
table: {z: 1, a: {deep: [1, 2.0, 123456789012345678901234567890]}}
'dotted.key': quoted
slash/key: slashed
ümlaut: ja
secret: hunter2
broken: "%{lookup('broken')}"
text: "%{facts.os.family} at %{trusted.certname} in %{environment}"
version: '7'
//- C/environments/staging/hiera.yaml
version: 5
//- C/environments/staging/data/common.yaml
who: staging
"#;
