//! `SemVer` and `SemVerRange` from strings, parts and hashes of parts.

use std::sync::LazyLock;

use num_bigint::BigInt;
use puppet_values::semver::{Version, VersionRange};
use puppet_values::{Rich, Value};

use super::number::is_true;
use super::{ConversionError, pattern, unusable};
use crate::signature::Function;

pub(super) static VERSION: LazyLock<Function> = LazyLock::new(|| {
    let hash = "Struct[{major=>PositiveInteger,minor=>PositiveInteger,patch=>PositiveInteger,\
                Optional[prerelease]=>SemVerQualifier,Optional[build]=>SemVerQualifier}]";
    Function::new(
        "new_Version",
        &[
            ("PositiveInteger", "Integer[0,default]".to_owned()),
            (
                "SemVerQualifier",
                format!("Pattern[/{}/]", pattern::QUALIFIER),
            ),
            ("SemVerPattern", format!("Pattern[/{}/]", pattern::VERSION)),
            ("SemVerHash", hash.to_owned()),
        ],
        &[
            (false, &[("SemVerPattern", "str", false)]),
            (
                false,
                &[
                    ("PositiveInteger", "major", false),
                    ("PositiveInteger", "minor", false),
                    ("PositiveInteger", "patch", false),
                    ("SemVerQualifier", "prerelease", true),
                    ("SemVerQualifier", "build", true),
                ],
            ),
            (false, &[("SemVerHash", "hash_args", false)]),
            (true, &[("String", "str", false)]),
        ],
    )
});

fn number(value: Option<&Value>) -> BigInt {
    match value {
        Some(Value::Int(number)) => BigInt::from(*number),
        Some(Value::BigInt(number)) => (**number).clone(),
        _ => BigInt::ZERO,
    }
}

pub(super) fn version(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let version = match (signature, arguments) {
        (0, [Value::Str(text)]) => Version::parse(text)?,
        (2, [Value::Hash(hash)]) => {
            let text = |name: &str| hash.get(name).and_then(Value::as_str);
            let numbers = ["major", "minor", "patch"].map(|name| number(hash.get(name)));
            Version::from_parts(numbers, text("prerelease"), text("build"))
        }
        (1, arguments) => {
            let text = |index: usize| arguments.get(index).and_then(Value::as_str);
            let numbers = [0, 1, 2].map(|index| number(arguments.get(index)));
            Version::from_parts(numbers, text(3), text(4))
        }
        (_, [Value::Str(text), ..]) => {
            return Err(ConversionError::Value {
                function: "new_Version",
                problem: format!("The string '{text}' cannot be converted to a SemVer"),
            });
        }
        _ => return Err(unusable("")),
    };
    Ok(Rich::SemVer(version).into())
}

pub(super) static RANGE: LazyLock<Function> = LazyLock::new(|| {
    let hash = "Struct[{min=>Variant[Default,SemVer],Optional[max]=>Variant[Default,SemVer],\
                Optional[exclude_max]=>Boolean}]";
    Function::new(
        "new_VersionRange",
        &[
            ("SemVerRangeString", "String[1]".to_owned()),
            ("SemVerRangeHash", hash.to_owned()),
        ],
        &[
            (false, &[("SemVerRangeString", "str", false)]),
            (
                false,
                &[
                    ("Variant[Default,SemVer]", "min", false),
                    ("Variant[Default,SemVer]", "max", false),
                    ("Boolean", "exclude_max", true),
                ],
            ),
            (false, &[("SemVerRangeHash", "hash_args", false)]),
        ],
    )
});

pub(super) fn range(signature: usize, arguments: &[Value]) -> Result<Value, ConversionError> {
    let range = match (signature, arguments) {
        (0, [Value::Str(text)]) => VersionRange::parse(text),
        (2, [Value::Hash(hash)]) => VersionRange::between(
            &bound(hash.get("min"), Version::lowest),
            &bound(hash.get("max"), Version::highest),
            is_true(hash.get("exclude_max")),
        ),
        (_, arguments) => VersionRange::between(
            &bound(arguments.first(), Version::lowest),
            &bound(arguments.get(1), Version::highest),
            is_true(arguments.get(2)),
        ),
    };
    Ok(Rich::SemVerRange(range?).into())
}

fn bound(value: Option<&Value>, open: fn() -> Version) -> Version {
    match value {
        Some(Value::Rich(rich)) => match &**rich {
            Rich::SemVer(version) => version.clone(),
            _ => open(),
        },
        _ => open(),
    }
}
