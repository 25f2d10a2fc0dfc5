//! A lookup in an environment on disk: reads every file below it and asks for a key.
//!
//! `cargo run -p hiera-resolver --example from_directory -- config/code/environments/production ntp::servers group=ops`
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example reads files and shows its results"
)]

use std::path::Path;

use hiera_resolver::{Environment, EnvironmentBuilder, Node, Outcome, Value};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("usage: from_directory DIRECTORY KEY [FACT=VALUE ...]".into());
    };
    let root = std::fs::canonicalize(directory)?;
    let mut builder = Environment::builder().root(&root.to_string_lossy());
    if let Ok(text) = std::fs::read(root.join("hiera.yaml")) {
        builder = builder.hiera_yaml(text);
    }
    if let Ok(modules) = std::fs::read_dir(root.join("modules")) {
        for module in modules {
            let module = module?;
            if let Ok(text) = std::fs::read(module.path().join("hiera.yaml")) {
                builder = builder.module(&module.file_name().to_string_lossy(), text);
            }
        }
    }
    let environment = add_files(builder, &root)?.build();
    for fault in environment.faults() {
        eprintln!("{fault}");
    }

    let facts: Vec<(Value, Value)> = arguments
        .filter_map(|fact| {
            let (name, value) = fact.split_once('=')?;
            Some((Value::str(name), Value::str(value)))
        })
        .collect();
    let node = Node::new("production").facts(facts.into_iter().collect::<hiera_resolver::Hash>());
    match environment.lookup(&key, &node)? {
        Outcome::Found(value) => println!(
            "{}",
            hiera_resolver::puppet_types::convert::stringify(&value)
        ),
        Outcome::NotFound => println!("not found"),
    }
    Ok(())
}

/// Adds every file below a directory. A file that no level can reach costs nothing but its bytes.
fn add_files<'a>(
    mut builder: EnvironmentBuilder<'a>,
    directory: &Path,
) -> std::io::Result<EnvironmentBuilder<'a>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        builder = if path.is_dir() {
            add_files(builder, &path)?
        } else {
            builder.file(&path.to_string_lossy(), std::fs::read(&path)?)
        };
    }
    Ok(builder)
}
