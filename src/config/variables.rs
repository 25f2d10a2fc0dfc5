//! [`Variables`]: `HIERAD_*` variables, parsed into the settings that they override.

use std::str::FromStr;

use anyhow::{Context, anyhow};
use clap::ValueEnum;

/// The variables of the process, or of a test.
pub(super) struct Variables<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Variables { variable }
    }

    /// The text of a variable, if it is set.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    /// Overrides a number.
    pub(super) fn set_number<T>(&self, setting: &mut T, name: &str) -> anyhow::Result<()>
    where
        T: FromStr<Err = std::num::ParseIntError>,
    {
        if let Some(text) = self.text(name) {
            *setting = text
                .parse()
                .with_context(|| format!("{name} must be a number, not `{text}`"))?;
        }
        Ok(())
    }

    /// Overrides a setting that is on or off.
    pub(super) fn set_bool(&self, setting: &mut bool, name: &str) -> anyhow::Result<()> {
        if let Some(text) = self.text(name) {
            *setting = text
                .parse()
                .with_context(|| format!("{name} must be true or false, not `{text}`"))?;
        }
        Ok(())
    }

    /// Overrides a setting that takes one of a few words.
    pub(super) fn set_choice<T: ValueEnum>(
        &self,
        setting: &mut T,
        name: &str,
    ) -> anyhow::Result<()> {
        if let Some(text) = self.text(name) {
            *setting = T::from_str(&text, false).map_err(|_| {
                anyhow!(
                    "{name} must be {}, not `{text}`",
                    choices::<T>().join(" or ")
                )
            })?;
        }
        Ok(())
    }
}

/// The items of a list in a variable, separated by commas.
pub(super) fn split_list(text: &str) -> Vec<String> {
    let items = text.split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words of a setting: all but the last in one text, separated by commas, then the last.
fn choices<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants().iter().filter_map(T::to_possible_value);
    let mut names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    let last = names.pop();
    let rest = (!names.is_empty()).then(|| names.join(", "));
    rest.into_iter().chain(last).collect()
}
