//! Reads YAML from standard input as Puppet does and writes it as Ruby's `to_yaml` does:
//!
//! ```text
//! $ printf 'ports: 80,443\ntimeout: 1:30\n' | cargo run -p psych-yaml --example reformat
//! ---
//! ports: 80443
//! timeout: 5400
//! ```
#![expect(clippy::print_stdout, reason = "the output of the example")]

use std::error::Error;
use std::io::Read;

fn main() -> Result<(), Box<dyn Error>> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    if let Some(value) = psych_yaml::parse(&input)? {
        print!("{}", value.to_yaml()?);
    }
    Ok(())
}
