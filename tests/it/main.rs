//! The integration tests: the service as its clients see it, the command line, and hostile data.
//!
//! A tree is made from a string, written to a temporary directory and loaded; most tests then call the router in
//! process. Deeply nested data needs large stacks, so everything runs on threads with the stack size of the server.
#![cfg(test)]

/// `hierad lookup` and `hierad check` as processes: output and exit codes.
mod command_line;
/// The sample and the settings file in `config/`.
mod config;
/// Every recorded answer of Puppet, by the library, over HTTP in all its forms, and by the command line.
mod conformance;
/// Connections and browsers: limits, timeouts, and which requests are refused before anyone looks at what they ask.
mod connections;
/// Checks every reply that a test gets against `openapi.yaml`.
mod contract;
/// `hierad check` of a single control repository.
mod control_repository;
/// The page `/docs` and the description that it shows; in a real browser when `scripts/test` asks for it.
mod docs;
/// Encrypted values (eyaml), end to end; secrets are shown in answers only.
mod encrypted;
/// Problem documents: the status, type and text of each error.
mod errors;
/// The examples in README.md and docs/ print what the pages show.
mod examples;
/// What every request passes: request ids, compression, cross-origin rules, the access log.
mod gate;
/// Hostile trees and requests: each is answered within limits of time and memory.
mod hostile;
/// Relative links in Markdown files lead to files and headings that exist.
mod links;
/// Locations of every form, and which files they can name.
mod locations;
/// Lookups over HTTP: values, batches, explanations, queries, secrets.
mod lookup;
/// Code directories without environments.
mod no_environments;
/// `openapi.yaml` against the router, both ways.
mod openapi;
/// Mistakes in `lookup_options`: found when they are loaded, with their position.
mod options;
/// Requests that are refused before they have arrived in full, over a real connection.
mod refusals;
/// Changes on disk under a running server: which become visible, which are held back, who is notified.
mod reload;
/// Levels whose data comes from another server (`hiera_http`).
mod remote;
/// The binary as a process: start, drain, timeouts, many connections.
mod serve;
/// Signals to the binary: which stop it, and which reload.
mod signals;
/// Environments, health, metrics and revisions.
mod status;
/// The setting `strict`: what fails as in Puppet 8, and what passes as in Puppet 7.
mod strict;
/// Trees from fixture strings, servers in process and as processes, and the tools that tests need.
mod support;
/// Output on a terminal: colours, and none with `NO_COLOR`.
mod terminal;
/// Files and directories that cannot be read do not count as absent.
mod unreadable;
