//! One environment that keeps changing, beside others.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{EVENTS_ONLY, FIXTURE, Served, SetOnDrop};
use crate::support::Tree;

#[test]
fn an_environment_that_keeps_moving_delays_no_other() {
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
            // A request takes a few milliseconds: writes without any pause would only load the machine.
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
    // The noisy one is followed as well.
    served.write("C/environments/noisy/data/common.yaml", "k: last\n");
    let request = json!({ "key": "k", "environment": "noisy" });
    served.comes_to(&request, &json!("last"));
}
