//! The indentation of collections in alternative form.

/// The level of a collection, and whether it starts on its own line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indentation {
    pub(super) level: usize,
    pub(super) is_first: bool,
    pub(super) is_indenting: bool,
}

impl Default for Indentation {
    fn default() -> Self {
        Indentation {
            level: 0,
            is_first: true,
            is_indenting: false,
        }
    }
}

impl Indentation {
    pub(super) fn indenting(self, is_indenting: bool) -> Self {
        Indentation {
            is_indenting,
            ..self
        }
    }

    pub(super) fn increase(self, is_indenting: bool) -> Self {
        Indentation {
            level: self.level + 1,
            is_first: true,
            is_indenting,
        }
    }

    /// The opening delimiter of a collection, on a line of its own if the collection starts one.
    pub(super) fn opened(self, delimiter: &str) -> String {
        match self.breaks() {
            true => format!("\n{}{delimiter}", self.padding()),
            false => delimiter.to_owned(),
        }
    }

    fn breaks(self) -> bool {
        self.is_indenting && self.level > 0 && !self.is_first
    }

    pub(super) fn padding(self) -> String {
        " ".repeat(2 * self.level)
    }
}
