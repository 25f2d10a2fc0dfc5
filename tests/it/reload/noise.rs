//! One environment that keeps changing next to others.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FIXTURE, Served, SetOnDrop};
use crate::support::Tree;
use crate::support::process::EVENTS_ONLY;

#[test]
fn an_environment_that_keeps_changing_does_not_delay_others() {
    let tree = Tree::new(FIXTURE);
    for path in ["hiera.yaml", "data/common.yaml"] {
        let text = fs::read(tree.path(&format!("/{path}"))).unwrap();
        tree.write(&format!("C/environments/noisy/{path}"), text);
    }
    let served = Served::with(tree, &EVENTS_ONLY);
    let is_over = AtomicBool::new(false);
    let make_noise = || {
        for number in 0u64.. {
            if is_over.load(Ordering::Acquire) {
                return;
            }
            served.write(
                "C/environments/noisy/data/common.yaml",
                format!("k: {number}\n"),
            );
            // A request takes a few milliseconds; without this pause the writes would only keep the machine busy.
            assert_eq!(served.server.get("/livez").status, 200);
        }
    };
    let slowest = std::thread::scope(|scope| {
        let _end = SetOnDrop(&is_over);
        scope.spawn(make_noise);
        let times = (100..106).map(|number| {
            served.write("/data/common.yaml", format!("k: {number}\nwho: anybody\n"));
            let start = Instant::now();
            served.becomes("k", &json!(number));
            start.elapsed()
        });
        times.max().unwrap()
    });
    // About 30 ms; a busy machine needs more.
    assert!(slowest < Duration::from_secs(1), "it took {slowest:?}");
    // The noisy one is still watched.
    served.write("C/environments/noisy/data/common.yaml", "k: last\n");
    let request = json!({ "key": "k", "environment": "noisy" });
    served.wait_for_value(&request, &json!("last"));
}
