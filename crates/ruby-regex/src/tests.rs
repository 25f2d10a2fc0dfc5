use super::*;

#[track_caller]
fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    let regex = RubyRegex::new(pattern).unwrap();
    for text in matching {
        assert_eq!(regex.is_match(text), Ok(true), "{pattern} ~ {text:?}");
    }
    for text in others {
        assert_eq!(regex.is_match(text), Ok(false), "{pattern} ~ {text:?}");
    }
}

#[track_caller]
fn check_error(pattern: &str, expected: &str) {
    let error = RubyRegex::new(pattern).unwrap_err();
    assert_eq!(error.to_string(), format!("{expected}: /{pattern}/"));
}

#[test]
fn a_line_does_not_start_after_the_last_line_break() {
    check(r"\n^", &["a\nb"], &["a\n"]);
    check("^$", &["", "\n", "a\n\n"], &["a\n"]);
    check(r"a\Z", &["a", "a\n"], &["a\n\n", "ab"]);
}

#[test]
fn options_apply_to_the_end_of_the_group_across_alternatives() {
    check("^a(?i)b|c$", &["aC", "aB"], &["C"]);
    check("^(?:(?i)a|b)c$", &["Bc"], &["BC"]);
}

#[test]
fn case_folds_as_in_ruby() {
    check(
        "^(?i)strasse$",
        &["Straße", "STRASSE", "ſtraſſe"],
        &["strase"],
    );
    check("^(?i)ß$", &["ss", "SS", "ẞ"], &["s"]);
    check("^(?i)[k]$", &["\u{212A}"], &[]);
    check(r"^(?i)[\w]$", &["k"], &["\u{212A}"]);
    check("^(?i)[a&&A]$", &[], &["a", "A"]);
    check("^(?i)[^a]$", &["b"], &["a", "A"]);
    check("^(?i)[ßa]$", &["ss", "ẞ"], &["s"]);
    check("^(?i)[é]$", &["É"], &[]);
    check("^(?i)[éa]$", &["é", "A"], &["É"]);
    check(r"^(?i)(é)\1$", &["éÉ"], &["ée"]);
}

#[test]
fn shorthands_are_ascii_but_word_boundaries_are_unicode() {
    check(r"x\b", &["x", "x-"], &["xé"]);
    check(r"(?a)x\b", &["xé"], &["xy"]);
    check(r"(?u)^\w$", &["é", "²"], &["-"]);
}

#[test]
fn nested_classes() {
    check("^[a-z&&[^aeiou]&&[^x-z]]+$", &["bcd"], &["a", "x"]);
    check("^[]a]$", &["]", "a"], &["b"]);
    check("^[a-[b]]$", &["b"], &["a", "-"]);
    check("^[[:^alpha:]-]$", &["1", "-"], &["a"]);
    check(r"^[\]\-\b]$", &["]", "-", "\u{8}"], &["b"]);
}

#[test]
fn quantifiers() {
    check("^a{2}?$", &["", "aa"], &["a"]);
    check("^a{2}+$", &["aaaa"], &["aaa"]);
    check("^a{,2}$", &["", "aa"], &["aaa"]);
    check("^a{,}$", &["a{,}"], &["a"]);
    check("^(?:a|ab)++c$", &["ac"], &["abc"]);
}

#[test]
fn references_calls_and_conditions() {
    check(r"^(?<n>a)|(?<n>b)\k<n>$", &["a", "bb"], &["ba"]);
    check(
        r"^(?<p>\((?:[^()]|\g<p>)*\))$",
        &["(a(b)c)"],
        &["(a", "(()"],
    );
    let nested = "(".repeat(100) + &")".repeat(100);
    check(
        r"^(\((?:\g<1>)*\))$",
        &[&nested],
        &[nested.trim_start_matches('(')],
    );
    check(r"^(a)?(?(1)b|c)$", &["ab", "c"], &["b"]);
    check(r"^((?(1)x)a){2}$", &["aa"], &["axa"]);
    check(r"(?<=a|bc)d", &["ad", "bcd"], &["cd"]);
    check(r"(?<!a|bc)d", &["cd", "d"], &["ad", "bcd"]);
}

#[test]
fn absence_operators() {
    check("^(?~abc)$", &["", "ab", "acb"], &["abc", "xabcx"]);
    check("^(?~abc)c$", &["abc", "c"], &["abcc"]);
    check(r"^/\*(?~\*/)\*/$", &["/* a * / */"], &["/* */ */"]);
}

#[test]
fn invalid_patterns_are_refused_with_rubys_messages() {
    check_error("^(", "end pattern with unmatched parenthesis");
    check_error("^a)", "unmatched close parenthesis");
    check_error("^[a", "premature end of char-class");
    check_error("^[]", "empty char-class");
    check_error("^[z-a]", "empty range in char class");
    check_error(r"^[\w-a]", "unmatched range specifier in char-class");
    check_error("^[[:foo:]]", "invalid POSIX bracket type");
    check_error("*", "target of repeat operator is not specified");
    check_error("a{2,1}", "upper is smaller than lower in repeat range");
    check_error("(?P<n>a)", "undefined group option");
    check_error(r"\k<x>", "undefined name <x> reference");
    check_error(
        r"(?<n>a)\1",
        "numbered backref/call is not allowed. (use name)",
    );
    check_error(r"\2(a)", "invalid backref number/name");
    check_error("(?<=a*)b", "invalid pattern in look-behind");
    check_error(r"(?<a>\g<a>b)", "never ending recursion");
    check_error(r"\p{Foo}", "invalid character property name {Foo}");
    check_error(r"\xE9", "too short escaped multibyte character");
    check_error(r"\", "too short escape sequence");
}

#[test]
fn unicode_blocks() {
    check(r"^\p{InBasic_Latin}+$", &["a~\0\x7F"], &["\u{80}", "é"]);
    check(
        r"\p{in latin-1 supplement}",
        &["\u{80}", "ÿ"],
        &["\x7F", "Ā"],
    );
    check(r"\p{^InCyrillic}", &["a", "\u{3FF}"], &["Ж", "\u{4FF}"]);
    check(
        r"[\p{InCJK_Unified_Ideographs_Extension_G}x]",
        &["\u{30000}", "x"],
        &["\u{31350}"],
    );
    check(
        r"\p{InNo_Block}",
        &["\u{2FE0}", "\u{870}"],
        &["a", "\u{2FDF}"],
    );
    check(r"\p{InHigh_Surrogates}", &[], &["a", "\u{E000}"]);
    check(r"\p{Inscriptional_Pahlavi}", &["\u{10B60}"], &["\u{10B74}"]);
    check(
        r"\p{InInscriptional_Pahlavi}",
        &["\u{10B7F}"],
        &["\u{10B80}"],
    );
    // A block of a later Unicode, an alias, and names without or with other letters.
    for name in ["InToto", "InASCII", "In", "Basic_Latin", "InBasic_Latinx"] {
        let message = format!("invalid character property name {{{name}}}");
        check_error(&format!(r"\p{{{name}}}"), &message);
    }
}

#[test]
fn unsupported_patterns_are_refused() {
    check_error(
        r"(?<n>a)\k<n+1>",
        "a backreference with a level is not supported",
    );
    check_error(&"(".repeat(300), "groups nested too deeply");
    check_error("(?=(?:a{1000}){1000})", "too large");
    check_error(r"(?:\p{L}{1000}){1000}", "too large");
}

#[test]
fn matching_is_linear_or_limited_in_steps() {
    let text = "a".repeat(40) + "!";
    check("^(a+)+$", &[], &[&text]);
    let regex = RubyRegex::new(r"^(a+)+\1?$").unwrap();
    assert_eq!(regex.is_match(&text), Err(MatchError::TOO_MANY_STEPS));
}

#[test]
fn malicious_patterns_are_limited() {
    let parts = [
        "(", "[", "(?:", "(?=", "(?<=", "(?i)", "(?<n>", "(?~", "[[:", "(?i)ss", "(?i:ss)",
    ];
    for part in parts {
        assert!(RubyRegex::new(&part.repeat(5_000)).is_err(), "{part}");
    }
    assert!(RubyRegex::new(&format!("a{}", "*".repeat(20_000))).is_err());
    assert!(RubyRegex::new(&format!("(?i){}", "s".repeat(5_000))).is_ok());
    assert!(RubyRegex::new(&format!("{}a{}", "(".repeat(150), ")?".repeat(150))).is_ok());
    let slow = [
        r"^(?=(a*)*\1b)",
        r"^(?:(?>(a))|a)*\1!?$",
        r"(?~b)*(?~b)*(?~b)*\b\Bx",
        r"\bé\B\b",
    ];
    for pattern in slow {
        let regex = RubyRegex::new(pattern).unwrap();
        for text in ["a".repeat(5_000), "é".repeat(5_000)] {
            // It must return, with either result.
            assert!(matches!(
                regex.is_match(&text),
                Ok(_) | Err(MatchError::TooManySteps { .. })
            ));
        }
    }
}

#[test]
fn a_pattern_set_returns_the_first_match() {
    let set = |patterns: &[&str]| {
        PatternSet::new(
            patterns
                .iter()
                .map(|pattern| RubyRegex::new(pattern).unwrap())
                .collect(),
        )
    };
    let mixed = set(&["^b", r"^(a)\1", "^a", r"(?<=x)y", "y"]);
    assert_eq!(mixed.first_match("aa"), Ok(Some(1)));
    assert_eq!(mixed.first_match("ab"), Ok(Some(2)));
    assert_eq!(mixed.first_match("xy"), Ok(Some(3)));
    assert_eq!(mixed.first_match("y"), Ok(Some(4)));
    assert_eq!(mixed.first_match("y\n"), Ok(Some(4)));
    assert_eq!(mixed.first_match("z"), Ok(None));
    assert_eq!(set(&[]).first_match("a"), Ok(None));
    let text = "a".repeat(40) + "!";
    let hard = r"^(a+)+\1?$";
    assert_eq!(set(&["!", hard]).first_match(&text), Ok(Some(0)));
    assert_eq!(
        set(&[hard, "!"]).first_match(&text),
        Err(MatchError::TOO_MANY_STEPS)
    );
}
