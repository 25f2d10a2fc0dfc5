//! The options of a deep merge.

use lean_string::LeanStr;
use puppet_values::{Hash, Value};

use crate::merge::error::OptionProblem;
use crate::merge::strategy::refuse_others;

/// What a deep merge does beside merging hashes and joining lists.
#[derive(Clone, Debug, Default)]
pub(in crate::merge) struct DeepOptions {
    /// The name of the strategy.
    name: LeanStr,
    /// A text that starts with this removes what is equal to the rest of it.
    pub(super) knockout_prefix: Option<LeanStr>,
    pub(super) sort_merged_arrays: bool,
    pub(super) merge_hash_arrays: bool,
    /// Hiera 3's `deep`: the lower level wins.
    pub(super) is_reversed: bool,
    pub(super) overwrite_arrays: bool,
    pub(super) extend_existing_arrays: bool,
    pub(super) unpack_arrays: Option<LeanStr>,
    pub(super) preserve_unmergeables: bool,
}

impl DeepOptions {
    /// The options of the strategy `deep`.
    pub(in crate::merge) fn parse(
        name: &str,
        options: Option<&Hash>,
    ) -> Result<Self, OptionProblem> {
        let mut deep = DeepOptions {
            name: name.into(),
            ..DeepOptions::default()
        };
        let Some(options) = options else {
            return Ok(deep);
        };
        let known = [
            "strategy",
            "knockout_prefix",
            "merge_debug",
            "merge_hash_arrays",
            "sort_merged_arrays",
        ];
        refuse_others(options, &known)?;
        flag(options, "merge_debug")?;
        deep.knockout_prefix = text(options, "knockout_prefix")?;
        deep.sort_merged_arrays = flag(options, "sort_merged_arrays")?;
        deep.merge_hash_arrays = flag(options, "merge_hash_arrays")?;
        Ok(deep)
    }

    /// The options of the strategies that Hiera 3's `merge_behavior` refers to. They accept any option of the library.
    pub(in crate::merge) fn parse_legacy(name: &str, options: Option<&Hash>) -> Self {
        let mut deep = DeepOptions {
            name: name.into(),
            is_reversed: name == "reverse_deep",
            ..DeepOptions::default()
        };
        let Some(options) = options else {
            return deep;
        };
        let is_set = |name| options.get(name).is_some_and(Value::is_truthy);
        let text = |name| options.get(name).and_then(Value::as_str).map(LeanStr::from);
        deep.knockout_prefix = text("knockout_prefix");
        deep.sort_merged_arrays = is_set("sort_merged_arrays");
        deep.merge_hash_arrays = is_set("merge_hash_arrays");
        deep.overwrite_arrays = is_set("overwrite_arrays");
        deep.extend_existing_arrays = is_set("extend_existing_arrays");
        deep.unpack_arrays = text("unpack_arrays");
        deep.preserve_unmergeables = is_set("preserve_unmergeables");
        deep
    }

    /// The name of the strategy.
    pub(in crate::merge) fn name(&self) -> &str {
        &self.name
    }

    /// May a level remove what lower levels have?
    pub(in crate::merge) fn has_knockout(&self) -> bool {
        self.knockout_prefix.is_some()
    }
}

/// A text option.
fn text(options: &Hash, name: &'static str) -> Result<Option<LeanStr>, OptionProblem> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong_type(name, "String", other)),
    }
}

/// A boolean option.
fn flag(options: &Hash, name: &'static str) -> Result<bool, OptionProblem> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(wrong_type(name, "Boolean", other)),
    }
}

fn wrong_type(name: &'static str, expected: &'static str, value: &Value) -> OptionProblem {
    OptionProblem::WrongType {
        name,
        expected,
        found: value.ruby_class(),
    }
}
