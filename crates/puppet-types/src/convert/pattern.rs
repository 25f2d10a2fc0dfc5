//! Puppet's own patterns for strings that can be converted, matched by functions.

use psych_yaml::ruby::is_space;
use puppet_values::semver::is_qualifier;
use puppet_values::{RegexError, Regexp};

/// Strings that `Integer` accepts.
pub(super) const INTEGER: &str = r"\A[+-]?\s*(?:(?:\d+)|(?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\z";

/// Strings that `Float` and `Numeric` accept.
pub(super) const FLOAT: &str = r"\A[+-]?\s*(?:(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\z";

/// A format of `String`.
pub(super) const FORMAT: &str = r"^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$";

/// A pre-release or build of a version.
pub(super) const QUALIFIER: &str = r"\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z";

/// A version.
pub(super) const VERSION: &str = r"\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\Z";

/// Compiles a regular expression. One of these patterns gets its function.
pub(crate) fn compile_regexp(source: &str) -> Result<Regexp, RegexError> {
    match native(source) {
        Some(matches) => Ok(Regexp::native(source, matches)),
        None => Regexp::new(source),
    }
}

/// The function that matches one of these patterns.
fn native(source: &str) -> Option<fn(&str) -> bool> {
    Some(match source {
        INTEGER => is_integer,
        FLOAT => is_float,
        FORMAT => |text| text.lines().any(super::format::is_format_line),
        QUALIFIER => |text| is_qualifier(text.strip_suffix('\n').unwrap_or(text)),
        VERSION => is_version,
        _ => return None,
    })
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-'])
        .unwrap_or(text)
        .trim_start_matches(is_space)
}

fn is_all(text: &str, accept: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(accept)
}

fn is_hex_or_binary(text: &str) -> bool {
    let after = |letters: [char; 2]| {
        text.strip_prefix('0')
            .and_then(|text| text.strip_prefix(letters))
    };
    after(['x', 'X']).is_some_and(|digits| is_all(digits, |char| char.is_ascii_hexdigit()))
        || after(['b', 'B']).is_some_and(|digits| is_all(digits, |char| "01".contains(char)))
}

fn is_integer(text: &str) -> bool {
    let text = unsigned(text);
    is_all(text, |char| char.is_ascii_digit()) || is_hex_or_binary(text)
}

fn is_float(text: &str) -> bool {
    let text = unsigned(text);
    is_decimal(text)
        || is_hex_or_binary(text)
        || text
            .strip_prefix('0')
            .is_some_and(|digits| is_all(digits, |char| ('0'..='7').contains(&char)))
}

fn is_decimal(text: &str) -> bool {
    let is_digits = |text: &str| is_all(text, |char| char.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix('-').unwrap_or(exponent)))
}

fn is_version(text: &str) -> bool {
    // The pattern accepts leading zeros in the pre-release, which parsing then refuses.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let (text, build) = text
        .split_once('+')
        .map_or((text, None), |(text, build)| (text, Some(build)));
    let (numbers, prerelease) = text
        .split_once('-')
        .map_or((text, None), |(numbers, prerelease)| {
            (numbers, Some(prerelease))
        });
    let mut count = 0;
    let are_numbers = numbers.split('.').all(|number| {
        count += 1;
        is_all(number, |char| char.is_ascii_digit()) && (number == "0" || !number.starts_with('0'))
    });
    are_numbers
        && count == 3
        && prerelease.is_none_or(is_qualifier)
        && build.is_none_or(is_qualifier)
}
