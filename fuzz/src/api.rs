//! What the targets use of hierad's crates, so that a path that changes is fixed here and nowhere else.

pub(crate) use hiera_resolver::Scope;
pub(crate) use hiera_resolver::Value;
pub(crate) use hiera_resolver::data::{hocon, json};
pub(crate) use hiera_resolver::hierarchy::{Layer, LayerKind};
pub(crate) use hiera_resolver::key::{LookupKey, Segment, dig, split_segments};
pub(crate) use hiera_resolver::puppet_types::convert::{new_instance, stringify};
pub(crate) use hiera_resolver::puppet_types::{Type, assert_instance};
pub(crate) use hiera_resolver::template::{Part, Template, Token};
pub(crate) use hierad::http::fuzzing as request;
pub(crate) use hierad::json::write_value;
pub(crate) use psych_yaml::{
    Build, Limits, Mark, ReadError, Scalar, Source, read, read_with_libyaml,
};
pub(crate) use ruby_regex::fuzzing::{BothMatchers, BothMatches};
pub(crate) use ruby_regex::{MatchError, PatternSet, RubyRegex};
