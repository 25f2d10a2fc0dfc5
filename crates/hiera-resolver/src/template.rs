//! Text with `%{...}` in it.
/// x
#[derive(Clone, Debug)]
pub struct Template {
    source: arcstr::ArcStr,
}
impl Template {
    /// The text as it stands in the file.
    pub fn source(&self) -> &str {
        &self.source
    }
}
