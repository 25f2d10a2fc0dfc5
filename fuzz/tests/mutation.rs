//! All targets on random mutations of their seeds: a few without arguments, as many as wanted with them.

use std::path::Path;
use std::process::ExitCode;

use hierad_fuzz::driver::{self, Directories};

fn main() -> ExitCode {
    let directories = Directories {
        corpus: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"),
        output: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz"),
    };
    driver::run(std::env::args().skip(1), &directories)
}
