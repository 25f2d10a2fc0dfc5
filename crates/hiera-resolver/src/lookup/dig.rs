//! The way along the segments of a key, into a value.

use puppet_values::Value;

use super::Step;
use super::walk::Walk;
use crate::explain::{Event, NodeKind};
use crate::key::{self, Segment};
use crate::lookup::LookupError;

impl Walk<'_, '_> {
    /// Follows the segments of a key into a value.
    pub(super) fn dig(&mut self, value: Value, segments: &[Segment], key: &str) -> Step {
        if segments.is_empty() {
            return Ok(Some(value));
        }
        if self.explanation.is_none() {
            return Ok(key::dig(&value, segments, key)?.cloned());
        }
        let shown = || {
            let segments: Vec<String> = segments.iter().map(ToString::to_string).collect();
            (
                NodeKind::SubKey {
                    segments: segments.join("."),
                },
                None,
            )
        };
        self.node(shown, |walk| {
            let mut current = value;
            for segment in segments {
                let next = walk.node(
                    || (NodeKind::Segment, None),
                    |walk| {
                        let name = segment.to_string();
                        let found = segment.dig(&current, key)?.cloned();
                        match &found {
                            Some(value) => {
                                walk.report(Some(&name.into()), || Event::Found(value.clone()))
                            }
                            None => walk.report_not_found(&name),
                        }
                        Ok::<_, LookupError>(found)
                    },
                )?;
                match next {
                    Some(next) => current = next,
                    None => return Ok(None),
                }
            }
            Ok(Some(current))
        })
    }
}
