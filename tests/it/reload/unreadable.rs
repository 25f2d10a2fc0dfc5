//! Files and directories that become unreadable keep the old data, and are read again without a request.

use std::fs::{self, Permissions};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{FIXTURE, OFF, Served};
use crate::support::process::{Answer, EVENTS_ONLY, Process, lookup_head, wait_for};
use crate::support::{Tree, can_drop_privileges, without_privileges};

/// A server without the privileges of root, so that permissions apply to it.
fn serve(fixture: &str, variables: &[(&str, &str)]) -> Served {
    let tree = Tree::new(fixture);
    let server = Process::launch_after(without_privileges(), tree.hierad("serve"), variables);
    server.wait_until_ready();
    Served { tree, server }
}

fn set_mode(served: &Served, path: &str, mode: u32) {
    fs::set_permissions(served.tree.path(path), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn files_that_become_unreadable_keep_the_old_data() {
    if !can_drop_privileges() {
        return;
    }
    let fixture = format!(
        "{FIXTURE}//- /data/nodes/a.yaml\nwho: a\n\
         //- /environment.conf\nmodulepath = site\n\
         //- /site/m/hiera.yaml\nversion: 5\n//- /site/m/data/common.yaml\nm::k: 1\n"
    );
    let served = serve(&fixture, &OFF);
    let before = served.revision("production");
    let node = json!({ "key": "who", "node": "a" });
    for path in [
        "/data/nodes",
        "/data/nodes/a.yaml",
        "/data",
        "/hiera.yaml",
        "/environment.conf",
        "/site",
        "/site/m",
        "/site/m/data",
        "E/",
        "C/environments",
    ] {
        let mode = fs::metadata(served.tree.path(path)).unwrap().permissions();
        set_mode(&served, path, 0o000);
        let outcome = served.reload("production").json();
        assert_eq!(outcome["outcome"], "kept", "{path}: {outcome}");
        let fault = outcome["faults"][0].to_string();
        assert!(fault.contains("Permission denied"), "{path}: {fault}");
        let named = served.tree.path(path).display().to_string();
        assert!(
            fault.contains(named.trim_end_matches('/')),
            "{path}: {fault}"
        );
        let shown = served.shown("production");
        assert_eq!(
            (&shown["state"], &shown["revision"]),
            (&json!("kept"), &json!(before))
        );
        assert_eq!(served.value_of(&node), "a");
        served.is("m::k", &json!(1));
        assert_eq!(served.server.get("/readyz").status, 200);
        fs::set_permissions(served.tree.path(path), mode).unwrap();
        // Only the permissions changed, and nothing requests a reload.
        served.wait_for_state("ok");
        assert_eq!(served.revision("production"), before);
    }
}

#[test]
fn environments_that_cannot_be_listed_are_all_kept() {
    if !can_drop_privileges() {
        return;
    }
    let fixture = format!("{FIXTURE}//- C/environments/other/data/common.yaml\nk: other\n");
    let variables = [EVENTS_ONLY[0], ("HIERAD_RESCAN_INTERVAL_S", "1")];
    let served = serve(&fixture, &variables);
    let other = json!({ "key": "k", "environment": "other" });
    served.write("C/environments/other/hiera.yaml", "version: 5\n");
    served.wait_for_value(&other, &json!("other"));
    set_mode(&served, "C/environments", 0o000);
    for environment in ["production", "other"] {
        wait_for("the state kept", || {
            (served.shown(environment)["state"] == "kept").then_some(())
        });
    }
    served.is("k", &json!(1));
    assert_eq!(served.value_of(&other), "other");
    let metrics = served.server.get("/metrics").text();
    assert!(metrics.contains("hierad_environments_kept 2"), "{metrics}");
    set_mode(&served, "C/environments", 0o755);
    served.wait_for_state("ok");
}

#[test]
fn a_server_becomes_ready_once_it_can_list_its_environments() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    let environments = tree.path("C/environments");
    fs::set_permissions(&environments, Permissions::from_mode(0o000)).unwrap();
    let server = Process::launch_after(without_privileges(), tree.hierad("serve"), &OFF);
    wait_for("the reason", || {
        let answer = server.get("/readyz");
        (answer.status == 503 && answer.text().contains("Permission denied")).then_some(())
    });
    fs::set_permissions(&environments, Permissions::from_mode(0o755)).unwrap();
    server.wait_until_ready();
    let served = Served { tree, server };
    served.is("k", &json!(1));
}

#[test]
fn a_fault_from_startup_is_cleared_with_its_cause() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(&format!("{FIXTURE}//- /data/nodes/a.yaml\nwho: a\n"));
    let nodes = tree.path("/data/nodes");
    fs::set_permissions(&nodes, Permissions::from_mode(0o000)).unwrap();
    let server = Process::launch_after(without_privileges(), tree.hierad("serve"), &OFF);
    let served = Served { tree, server };
    let node = json!({ "key": "who", "node": "a" });
    served.wait_for_value(&node, &json!({ "status": 422 }));
    fs::set_permissions(&nodes, Permissions::from_mode(0o755)).unwrap();
    served.wait_for_value(&node, &json!("a"));
    served.wait_for_state("ok");
}

/// Sends a request on a connection that stays open.
fn ask(stream: &mut TcpStream, request: &str) -> Answer {
    stream.write_all(request.as_bytes()).unwrap();
    Answer::read(stream).unwrap()
}

#[test]
fn running_out_of_file_descriptors_keeps_the_old_data() {
    const PARTS: usize = 6;
    let hiera = "version: 5\nhierarchy: [{name: parts, glob: \"parts/*.yaml\"}]\n";
    let tree = Tree::new(&format!("//- /hiera.yaml\n{hiera}"));
    for number in 0..PARTS {
        let text = format!("packages: [p{number}]\n");
        tree.write(&format!("/data/parts/{number}.yaml"), text);
    }
    let variables = [
        ("HIERAD_RESCAN_INTERVAL_S", "3600"),
        ("HIERAD_REQUEST_TIMEOUT_MS", "600000"),
    ];
    let server = Process::start(&tree, &variables);
    let mut stream = server.connect().unwrap();
    let body = json!({ "key": "packages", "merge": "unique" }).to_string();
    let lookup = lookup_head(body.len(), "") + &body;
    let packages = |stream: &mut TcpStream| -> Value {
        let answer = ask(stream, &lookup);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["value"].clone()
    };
    let before = packages(&mut stream);
    assert_eq!(before.as_array().unwrap().len(), PARTS);

    let files = server.open_files();
    server.limit_open_files(files.min(8));
    tree.write("/data/parts/new.yaml", "packages: [new]\n");
    let reload = "POST /environments/production/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    for _ in 0..5 {
        let outcome = ask(&mut stream, reload).json();
        assert_eq!(outcome["outcome"], "kept", "{outcome}");
        assert!(
            outcome.to_string().contains("Too many open files"),
            "{outcome}"
        );
        assert_eq!(packages(&mut stream), before);
    }
    // Connections that cannot be accepted wait. The log says so once.
    let waiting: Vec<TcpStream> = (0..3).map(|_| server.connect().unwrap()).collect();
    wait_for("a line in the log", || {
        server
            .log()
            .contains("cannot accept connections: Too many open files")
            .then_some(())
    });
    assert_eq!(packages(&mut stream), before);
    server.limit_open_files(1000);
    // Without a request, some seconds later.
    wait_for("the new file", || {
        (packages(&mut stream).as_array().unwrap().len() == PARTS + 1).then_some(())
    });
    for mut stream in waiting {
        assert_eq!(packages(&mut stream).as_array().unwrap().len(), PARTS + 1);
    }
    assert_eq!(server.log().matches("cannot accept connections").count(), 1);
}
