//! The meaning of tags.
//!
//! Psych's regular expressions match lines, and a tag can contain line breaks (`!%0A`), so each line of a tag is tried.

/// The tag that makes any scalar a string, also `<<`, which is then not a merge key.
pub(crate) const STR: &str = "tag:yaml.org,2002:str";

/// The only class, besides those of plain data, that Puppet allows in a tag.
const PERMITTED_CLASS: &str = "Symbol";

/// The meaning of a scalar's tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScalarTag<'a> {
    /// The content decides.
    Resolve,
    String,
    Binary,
    Float,
    Symbol,
    Null,
    Refused(Refusal<'a>),
}

/// The meaning of a sequence's tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SequenceTag<'a> {
    Sequence,
    OrderedMapping,
    Refused(Refusal<'a>),
}

/// The meaning of a mapping's tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MappingTag<'a> {
    Mapping,
    /// `!!str {str: text}`, which old versions of Ruby wrote for strings with instance variables.
    String,
    Refused(Refusal<'a>),
}

/// Why a tag is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal<'a> {
    /// It names a class that is not allowed in data.
    Class(&'a str),
    /// It does not fit its node.
    Misplaced,
}

pub(crate) fn scalar<'a>(tag: &'a str, text: &'a str) -> ScalarTag<'a> {
    let named = |class| ScalarTag::Refused(class_named(class));
    if matches!(tag, "!binary" | "tag:yaml.org,2002:binary") {
        return ScalarTag::Binary;
    }
    if let Some(class) = string_class(tag) {
        return if class.is_empty() {
            ScalarTag::String
        } else {
            named(class)
        };
    }
    match tag {
        STR => ScalarTag::String,
        "!ruby/object:BigDecimal" => named("BigDecimal"),
        "!ruby/object:DateTime" => named("DateTime"),
        "!ruby/object:Complex" => named("Complex"),
        "!ruby/object:Rational" => named("Rational"),
        "!ruby/regexp" => named("Regexp"),
        "!ruby/range" => named("Range"),
        // Puppet: an encoding is an object in Ruby. Every lookup refuses it, as it refuses a symbol.
        "!ruby/encoding" => ScalarTag::Symbol,
        "!ruby/class" | "!ruby/module" if text.is_empty() => ScalarTag::Null,
        "!ruby/class" | "!ruby/module" => named(text),
        "!float" | "tag:yaml.org,2002:float" => ScalarTag::Float,
        _ if after(tag, "!ruby/sym").is_some() => ScalarTag::Symbol,
        _ => ScalarTag::Resolve,
    }
}

pub(crate) fn sequence(tag: &str) -> SequenceTag<'_> {
    if matches!(tag, "!omap" | "tag:yaml.org,2002:omap") {
        return SequenceTag::OrderedMapping;
    }
    match after(tag, "!seq:").or_else(|| after(tag, "!ruby/array:")) {
        Some(class) => SequenceTag::Refused(class_named(class)),
        None => SequenceTag::Sequence,
    }
}

pub(crate) fn mapping(tag: &str) -> MappingTag<'_> {
    let named = |class| MappingTag::Refused(class_named(class));
    let or_default = |class: &'static str| {
        move |name| MappingTag::Refused(class_named(optional(name).unwrap_or(class)))
    };
    if let Some(refused) = after(tag, "!ruby/struct").map(or_default("Struct")) {
        return refused;
    }
    if let Some(name) = after(tag, "!ruby/object") {
        return match optional(name) {
            Some("Hash") => MappingTag::Mapping,
            class => named(class.unwrap_or("Object")),
        };
    }
    if let Some(class) = string_class(tag).or((tag == STR).then_some("")) {
        return if class.is_empty() {
            MappingTag::String
        } else {
            named(class)
        };
    }
    if let Some(class) = after(tag, "!ruby/array:") {
        return named(class);
    }
    if tag == "!ruby/range" {
        return named("Range");
    }
    if let Some(refused) = after(tag, "!ruby/exception").map(or_default("Exception")) {
        return refused;
    }
    if matches!(tag, "!set" | "tag:yaml.org,2002:set") {
        return named("Psych::Set");
    }
    // Puppet: without a class, Psych takes the entries from the key `elements`.
    if let Some(class) = after(tag, "!ruby/hash-with-ivars:").or_else(|| {
        tag.split('\n')
            .any(|line| line == "!ruby/hash-with-ivars")
            .then_some("")
    }) {
        return named(class);
    }
    if let Some(class) = after(tag, "!map:").or_else(|| after(tag, "!ruby/hash:")) {
        return named(class);
    }
    if matches!(tag, "!omap" | "tag:yaml.org,2002:omap") {
        return named("Psych::Omap");
    }
    match after(tag, "!ruby/marshalable:") {
        Some(class) => named(class),
        None => MappingTag::Mapping,
    }
}

fn class_named(class: &str) -> Refusal<'_> {
    if class.is_empty() || class == PERMITTED_CLASS {
        Refusal::Misplaced
    } else {
        Refusal::Class(class)
    }
}

/// The rest of the first line that starts with `prefix`.
fn after<'a>(tag: &'a str, prefix: &str) -> Option<&'a str> {
    tag.split('\n').find_map(|line| line.strip_prefix(prefix))
}

/// A class after an optional colon.
fn optional(name: &str) -> Option<&str> {
    let class = name.strip_prefix(':').unwrap_or(name);
    (!class.is_empty()).then_some(class)
}

/// The class of `!str`, `!str:Class`, `!ruby/string` or `!ruby/string:Class`; empty without one.
fn string_class(tag: &str) -> Option<&str> {
    tag.split('\n').find_map(|line| {
        let rest = line
            .strip_prefix("!str")
            .or_else(|| line.strip_prefix("!ruby/string"))?;
        if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix(':')
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_a_meaning_or_is_ignored() {
        assert_eq!(scalar("!foo", ""), ScalarTag::Resolve);
        assert_eq!(scalar("!strange", ""), ScalarTag::Resolve);
        assert_eq!(scalar("!str:", ""), ScalarTag::String);
        assert_eq!(scalar("!ruby/symbols", ""), ScalarTag::Symbol);
        let foo = Refusal::Class("Foo");
        assert_eq!(scalar("!ruby/string:Foo", ""), ScalarTag::Refused(foo));
        assert_eq!(scalar("!ruby/class", "Foo"), ScalarTag::Refused(foo));
        assert_eq!(sequence("!ruby/array:Foo"), SequenceTag::Refused(foo));
        assert_eq!(sequence("!ruby/array"), SequenceTag::Sequence);
        assert_eq!(mapping("!ruby/object:Foo"), MappingTag::Refused(foo));
        assert_eq!(mapping("!ruby/object:Hash"), MappingTag::Mapping);
        assert_eq!(mapping("!ruby/hash"), MappingTag::Mapping);
        let misplaced = Refusal::Misplaced;
        assert_eq!(mapping("!map:Symbol"), MappingTag::Refused(misplaced));
        let exception = Refusal::Class("Exception");
        assert_eq!(mapping("!ruby/exception"), MappingTag::Refused(exception));
    }

    #[test]
    fn each_line_of_a_tag_is_tried() {
        let foo = Refusal::Class("Foo");
        assert_eq!(scalar("!\n!str:Foo", ""), ScalarTag::Refused(foo));
        assert_eq!(mapping("x\n!map:Foo\ny"), MappingTag::Refused(foo));
    }
}
