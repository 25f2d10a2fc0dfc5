//! `convert_to`: the value as `lookup_options` want it.

use puppet_values::Value;

use super::walk::Walk;
use crate::explain::words::headings;
use crate::key::LookupKey;
use crate::lookup::LookupError;
use crate::lookup::options::KeyOptions;

impl Walk<'_, '_> {
    /// Converts a value if its options say so.
    pub(super) fn convert<'o>(
        &mut self,
        key: &LookupKey,
        value: Value,
        options: Option<&'o KeyOptions>,
    ) -> Result<Value, LookupError> {
        let with_conversion =
            |options: &'o KeyOptions| Some((options.name(), options.convert_to()?));
        let Some((name, conversion)) = options.and_then(with_conversion) else {
            return Ok(value);
        };
        let converted = match conversion.apply(key.as_str(), value.clone()) {
            Err(error) if conversion.problem().is_some() => {
                return Err(self.locate_in_options(error, Some(name), key.module()));
            }
            converted => self.made_of(&[&value], converted)?,
        };
        // It may not have made a Sensitive of it after all.
        if conversion.is_secret() && !converted.traits().has_sensitive {
            self.add_secret(&converted);
        }
        self.remark(|| headings::conversion(&conversion.shown()));
        Ok(converted)
    }
}
