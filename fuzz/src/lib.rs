//! Properties that hold for every input, one module each: `check` takes any bytes and panics when a property is broken.
//!
//! The same functions run under `cargo fuzz` (nightly, guided by coverage) and under [`driver`] (any toolchain, random
//! mutation of the seeds in `corpus/`). See the README beside this crate's manifest.

mod api;
pub mod driver;
mod expect;

pub mod body;
pub mod conversions;
pub mod hiera_yaml;
pub mod hocon;
pub mod json;
pub mod keys;
pub mod regexps;
pub mod templates;
pub mod types;
pub mod yaml;

#[cfg(fuzzing)]
pub use libfuzzer_sys;

/// A function to run on inputs, and what to make inputs of.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its module, of its binary and of its directory in `corpus/`.
    pub name: &'static str,
    /// Panics when a property is broken.
    pub check: fn(&[u8]),
    /// Texts with a meaning to what is tested.
    pub dictionary: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("body", body::check, body::DICTIONARY),
    target("yaml", yaml::check, yaml::DICTIONARY),
    target("json", json::check, json::DICTIONARY),
    target("hocon", hocon::check, hocon::DICTIONARY),
    target("keys", keys::check, keys::DICTIONARY),
    target("templates", templates::check, templates::DICTIONARY),
    target("types", types::check, types::DICTIONARY),
    target("conversions", conversions::check, conversions::DICTIONARY),
    target("regexps", regexps::check, regexps::DICTIONARY),
    target("hiera_yaml", hiera_yaml::check, hiera_yaml::DICTIONARY),
];

const fn target(
    name: &'static str,
    check: fn(&[u8]),
    dictionary: &'static [&'static str],
) -> Target {
    Target {
        name,
        check,
        dictionary,
    }
}

/// The binary of a target: libFuzzer's main function under `cargo fuzz`, and none to speak of elsewhere.
#[cfg(fuzzing)]
#[macro_export]
macro_rules! libfuzzer_target {
    ($check:path) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $check(bytes));
    };
}

/// The binary of a target: libFuzzer's main function under `cargo fuzz`, and none to speak of elsewhere.
#[cfg(not(fuzzing))]
#[macro_export]
macro_rules! libfuzzer_target {
    ($check:path) => {
        fn main() {
            eprintln!("run this with `cargo fuzz`, or see fuzz/README.md for other toolchains");
            std::process::exit(2);
        }
    };
}
