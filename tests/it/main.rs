//! One integration binary: the service as its callers see it, the command line, and what hostile data may do.
//!
//! Trees are made from strings, written to a temporary directory and loaded; most tests then call the router in
//! process. Deep data needs deep stacks, so everything runs on threads with the stack that the server gives its own.
#![cfg(test)]

/// `hierad lookup` and `hierad check` as processes: output and exit codes.
mod command_line;
/// What `config/` ships: the sample and the settings file.
mod config;
/// Every recorded answer of Puppet, by the library, over HTTP in all its forms, and by the command line.
mod conformance;
/// Every reply that a test gets is held to `openapi.yaml`.
mod contract;
/// The page `/docs` and the description that it shows; in a real browser when `scripts/test` asks for it.
mod docs;
/// Encrypted values (eyaml), end to end, and that they are never shown where they should not be.
mod encrypted;
/// Problem documents: which mistake gives which status, type and text.
mod errors;
/// The examples in README.md and docs/ print what the pages show.
mod examples;
/// What every request passes: request ids, compression, cross-origin rules, the access log.
mod gate;
/// Trees and requests that are made to hurt.
mod hostile;
/// Relative links in Markdown files lead to files and headings that exist.
mod links;
/// What a lookup over HTTP answers beyond the value: batches, defaults, explanations, queries.
mod locations;
mod lookup;
/// Encrypted values whose keys are chosen by facts.
mod node_keys;
/// `openapi.yaml` against the router, both ways.
mod openapi;
/// Mistakes in `lookup_options`: found when they are loaded, with their place.
mod options;
/// `Process`: the binary serving a tree, spoken to over its socket.
mod process;
/// Requests that are refused before they have arrived, over a real connection.
mod refusals;
/// Changes on disk under a running server: what becomes visible, what is kept back, who is told.
mod reload;
/// Levels whose data comes from another server, against one on loopback.
mod remote;
/// The real binary as a process: start, drain, timeouts, many connections.
mod serve;
/// Signals to the real binary: what stops it, what reloads.
mod signals;
/// Environments, health, figures and revisions.
mod status;
/// The setting `strict`: what fails as in Puppet 8, and what passes as in Puppet 7.
mod strict;
/// `TestServer`: an environment from a fixture string, its router in process.
mod support;
/// Output on a terminal: colours, and none with `NO_COLOR`.
mod terminal;
/// What the system refuses to show is not taken for absent.
mod unreadable;
/// Code directories without environments, and control repositories given by themselves.
mod vacant;
