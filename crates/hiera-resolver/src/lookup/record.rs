//! The explanation of a lookup, recorded as it goes. Nothing is done if none is wanted.

use arcstr::ArcStr;

use super::walk::Walk;
use crate::explain::words::headings;
use crate::explain::{Event, NodeKind, PuppetError};
use crate::hierarchy::plan::Plan;
use crate::lookup::LookupError;

impl<'a> Walk<'_, 'a> {
    /// Runs a step inside a node of the explanation.
    pub(super) fn node<R>(
        &mut self,
        kind: impl FnOnce() -> (NodeKind, Option<ArcStr>),
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let Some(explanation) = &mut self.explanation else {
            return body(self);
        };
        let (kind, key) = kind();
        explanation.open(kind, key);
        let result = body(self);
        if let Some(explanation) = &mut self.explanation {
            explanation.close();
        }
        result
    }

    /// Runs a step inside the node of a layer.
    pub(super) fn layer_node<R>(
        &mut self,
        plan: &Plan<'a>,
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (config, path) = (plan.config, plan.config.path());
        let kind = || headings::layer(config.kind(), config.version(), path.cloned());
        self.node(|| (kind(), None), body)
    }

    /// Records the result of the open node.
    pub(super) fn report(&mut self, key: Option<&ArcStr>, event: impl FnOnce() -> Event) {
        if let Some(explanation) = &mut self.explanation {
            let event = event();
            let weight = event.weight();
            self.explained += weight;
            // The result of a spent budget is discarded.
            _ = work_budget::charge(1 + weight as u64 / 64)
                .and_then(|()| work_budget::charge_bytes(weight));
            explanation.report(
                key.cloned(),
                if self.hides { event.redacted() } else { event },
            );
        }
    }

    /// Records that the open node found nothing.
    pub(super) fn report_not_found(&mut self, key: &str) {
        if let Some(explanation) = &mut self.explanation {
            explanation.report(Some(key.into()), Event::NotFound);
        }
    }

    /// Adds a remark to the open node.
    pub(super) fn remark(&mut self, text: impl FnOnce() -> String) {
        if let Some(explanation) = &mut self.explanation {
            explanation.remark(text());
        }
    }

    /// Runs a step that is left out of the explanation.
    pub(super) fn unexplained<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let explanation = self.explanation.take();
        let result = body(self);
        self.explanation = explanation;
        result
    }

    /// Keeps Puppet's form of an error that is being returned, if an explanation needs it.
    pub(super) fn track_puppet_error<R>(
        &mut self,
        result: &Result<R, LookupError>,
        step: impl FnOnce(&mut PuppetError),
    ) {
        if let (Err(error), true) = (result, self.explanation.is_some()) {
            let hides = self.hides;
            step(self.puppet_error.get_or_insert_with(|| match hides {
                true => PuppetError::from(&error.clone().withheld()),
                false => PuppetError::from(error),
            }));
        }
    }
}
