//! [`PuppetError`]: Puppet's form of an error, for the last line of an explanation.

/// The class and the text of an error in Puppet.
///
/// An explanation ends with the text of an error of the lookup, and with that of no other. On the way up through the
/// layers an error may change its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PuppetError {
    class: ErrorClass,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorClass {
    /// An error of the lookup.
    Lookup,
    /// An error of the lookup that is not wrapped in another one.
    NamedLookup,
    /// Another error that Puppet knows.
    Puppet,
    /// An error that Puppet does not expect, or whose text is not known here.
    Unexpected,
}

impl PuppetError {
    /// An error of the lookup.
    pub(crate) fn lookup(text: impl Into<String>) -> Self {
        PuppetError::new(ErrorClass::Lookup, text)
    }

    /// An error of the lookup that is not wrapped in another one.
    pub(crate) fn named_lookup(text: impl Into<String>) -> Self {
        PuppetError::new(ErrorClass::NamedLookup, text)
    }

    /// Another error that Puppet knows.
    pub(crate) fn puppet(text: impl Into<String>) -> Self {
        PuppetError::new(ErrorClass::Puppet, text)
    }

    /// An error that an explanation does not show.
    pub(crate) fn unexpected() -> Self {
        PuppetError::new(ErrorClass::Unexpected, "")
    }

    fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        let text = text.into();
        PuppetError { class, text }
    }

    /// Passes it out of a layer.
    pub(crate) fn leave_layer(&mut self) {
        if self.class == ErrorClass::Puppet {
            self.class = ErrorClass::Lookup;
        }
    }

    /// Passes it out of the global layer, where a key was looked up.
    pub(crate) fn leave_global(&mut self, key: &str) {
        if self.class == ErrorClass::Lookup {
            self.class = ErrorClass::Puppet;
            self.text = format!("Lookup of key '{key}' failed: {}", self.text);
        }
    }

    /// The last line of the explanation, if there is one.
    pub(crate) fn last_line(self) -> Option<String> {
        matches!(self.class, ErrorClass::Lookup | ErrorClass::NamedLookup).then_some(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_lookup_end_an_explanation() {
        let line = |error: PuppetError| error.last_line();
        assert_eq!(line(PuppetError::lookup("a")), Some("a".to_owned()));
        assert_eq!(line(PuppetError::named_lookup("a")), Some("a".to_owned()));
        assert_eq!(line(PuppetError::puppet("a")), None);
        assert_eq!(line(PuppetError::unexpected()), None);
    }

    #[test]
    fn an_error_changes_its_class_at_the_edge_of_layers() {
        let mut error = PuppetError::puppet("a");
        error.leave_layer();
        assert_eq!(error, PuppetError::lookup("a"));
        error.leave_global("k");
        assert_eq!(error, PuppetError::puppet("Lookup of key 'k' failed: a"));
        let mut named = PuppetError::named_lookup("a");
        named.leave_layer();
        named.leave_global("k");
        assert_eq!(named, PuppetError::named_lookup("a"));
    }
}
