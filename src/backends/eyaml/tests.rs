use hiera_resolver::{Hash, Value};
use psych_yaml::base64;
use serde::Deserialize;

use super::*;

const PRIVATE: &[u8] = include_bytes!("../../../tests/fixtures/eyaml/private_key.pkcs7.pem");
const PRIVATE_PKCS8: &[u8] = include_bytes!("../../../tests/fixtures/eyaml/private_key.pkcs8.pem");
const PUBLIC: &[u8] = include_bytes!("../../../tests/fixtures/eyaml/public_key.pkcs7.pem");
const OTHER_PRIVATE: &[u8] =
    include_bytes!("../../../tests/fixtures/eyaml/other_private_key.pkcs7.pem");
const OTHER_PUBLIC: &[u8] =
    include_bytes!("../../../tests/fixtures/eyaml/other_public_key.pkcs7.pem");

/// What hiera-eyaml returned for a text, recorded by `record.rb`.
#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    encrypted: bool,
    /// The result. Neither this nor `e` is set if Ruby returned bytes that are not text.
    r: Option<String>,
    /// The class of Ruby's error.
    e: Option<String>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../../../tests/fixtures/eyaml/cases.json")).unwrap()
}

fn case(name: &str) -> String {
    cases()
        .into_iter()
        .find(|case| case.name == name)
        .unwrap()
        .text
}

fn keys() -> Keys {
    Keys::from_pem(PRIVATE, Some(PUBLIC)).unwrap()
}

fn options(entries: &[(&str, &str)]) -> Hash {
    let entries = entries.iter();
    entries
        .map(|(key, value)| (Value::str(key), Value::str(value)))
        .collect()
}

#[test]
fn texts_are_decrypted_as_hiera_eyaml_does() {
    let cases = cases();
    assert_eq!(cases.len(), 62);
    let keys = keys();
    for case in cases {
        assert_eq!(
            hiera_resolver::data::is_encrypted(&case.text),
            case.encrypted,
            "{}",
            case.name
        );
        let decrypted = decrypt_text(&case.text, &keys);
        match case.name.as_str() {
            // Puppet: a cipher that eyaml never used, a value that JSON cannot represent, and an envelope that OpenSSL
            // only opens if our key happens to be first.
            "triple des" => assert!(matches!(decrypted, Err(DecryptError::Algorithm(_)))),
            "two recipients" => assert_eq!(decrypted, Ok("for two".to_owned())),
            "latin 1" => assert_eq!(decrypted, Err(DecryptError::NotText)),
            name => {
                assert_eq!(decrypted.is_err(), case.e.is_some(), "{name}");
                assert_eq!(decrypted.ok(), case.r, "{name}");
            }
        }
    }
}

#[test]
fn errors_name_what_is_wrong_with_a_block() {
    let keys = keys();
    let check = |text: &str, expected: &str| {
        let error = decrypt_text(text, &keys).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        "ENC[GPG,hQEMA]",
        "unknown encryptor `GPG`, only `PKCS7` is supported",
    );
    check("ENC[PKCS7, ]", "encrypted block without content");
    check("ENC[abcd]", "encrypted block is not a PKCS#7 envelope");
    check(&case("other issuer"), "encrypted for another certificate");
    check(
        &case("other key"),
        "encrypted block cannot be opened with this key",
    );
    check(
        &case("triple des"),
        "encrypted with the unsupported algorithm 1.2.840.113549.3.7",
    );
}

#[test]
fn a_key_may_be_pkcs8_and_have_text_around_it() {
    let keys = Keys::from_pem(PRIVATE_PKCS8, Some(PUBLIC)).unwrap();
    assert_eq!(decrypt_text(&case("string"), &keys), Ok("hello".to_owned()));
    let crlf = String::from_utf8_lossy(PRIVATE).replace('\n', "\r\n");
    assert!(Keys::from_pem(crlf.as_bytes(), Some(PUBLIC)).is_ok());
}

#[test]
fn keys_that_are_not_a_pair_are_rejected() {
    let check = |private: &[u8], public: &[u8], expected: KeysError| {
        assert_eq!(Keys::from_pem(private, Some(public)).unwrap_err(), expected);
    };
    check(PRIVATE, OTHER_PUBLIC, KeysError::Mismatch);
    check(OTHER_PRIVATE, PUBLIC, KeysError::Mismatch);
    check(PUBLIC, PUBLIC, KeysError::Private);
    check(b"", PUBLIC, KeysError::Private);
    check(PRIVATE, PRIVATE, KeysError::Public);
    let label = |label: &str, body: &str| {
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n").into_bytes()
    };
    check(
        &label("PRIVATE KEY", "AAAA"),
        PUBLIC,
        KeysError::PrivateSize,
    );
    check(
        &label("ENCRYPTED PRIVATE KEY", "AAAA"),
        PUBLIC,
        KeysError::Passphrase,
    );
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA";
    check(
        &label("RSA PRIVATE KEY", headers),
        PUBLIC,
        KeysError::Passphrase,
    );
}

#[test]
fn a_key_of_another_pair_decrypts_nothing() {
    let others = Keys::from_pem(OTHER_PRIVATE, Some(OTHER_PUBLIC)).unwrap();
    assert_eq!(
        decrypt_text(&case("string"), &others),
        Err(DecryptError::Undecryptable)
    );
    assert_eq!(
        decrypt_text(&case("two recipients"), &others),
        Ok("for two".to_owned())
    );
}

#[test]
fn a_private_key_alone_decrypts_for_any_certificate() {
    let keys = Keys::from_pem(PRIVATE, None).unwrap();
    for case in cases() {
        let decrypted = decrypt_text(&case.text, &keys);
        match case.name.as_str() {
            "triple des" => assert!(matches!(decrypted, Err(DecryptError::Algorithm(_)))),
            "two recipients" => assert_eq!(decrypted, Ok("for two".to_owned())),
            // Encrypted for the same key, with a certificate of another name.
            "other issuer" => assert_eq!(decrypted, Ok("x".to_owned())),
            name => assert_eq!(decrypted.ok(), case.r, "{name}"),
        }
    }
    let others = Keys::from_pem(OTHER_PRIVATE, None).unwrap();
    assert_eq!(
        decrypt_text(&case("string"), &others),
        Err(DecryptError::Undecryptable)
    );
}

#[test]
fn keys_come_from_files_or_variables() {
    let mut read = |path: &std::path::Path| match path.to_str() {
        Some("/private") => Ok(PRIVATE.to_vec()),
        Some("/public") => Ok(PUBLIC.to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let variable = |name: &str| (name == "PRIVATE_KEY").then(|| b"from variable".to_vec());
    let mut check = |entries: &[(&str, &str)], expected: Result<&[u8], &str>| {
        let private = KeySource::from_options(&options(entries))
            .and_then(|source| source.read(&mut read, &variable))
            .map(|(private, _)| private);
        let private = private.as_deref().map_err(ToString::to_string);
        assert_eq!(private, expected.map_err(str::to_owned));
    };
    let public = ("pkcs7_public_key", "/public");
    check(&[public, ("pkcs7_private_key", "/private")], Ok(PRIVATE));
    check(
        &[public, ("pkcs7_private_key_env_var", "PRIVATE_KEY")],
        Ok(b"from variable"),
    );
    let both = |variable| {
        [
            public,
            ("pkcs7_private_key", "/private"),
            ("pkcs7_private_key_env_var", variable),
        ]
    };
    check(&both("PRIVATE_KEY"), Ok(b"from variable"));
    check(&both("UNSET"), Ok(PRIVATE));
    check(
        &[public, ("pkcs7_private_key_env_var", "UNSET")],
        Err("the environment variable `UNSET` is not set"),
    );
    check(
        &[public, ("pkcs7_private_key", "/nope")],
        Err("in `/nope`: no such file"),
    );
    check(
        &[public],
        Err("neither `pkcs7_private_key` nor `pkcs7_private_key_env_var` is set"),
    );
    check(
        &[("path", "x.eyaml")],
        Err("neither `pkcs7_private_key` nor `pkcs7_private_key_env_var` is set"),
    );
    check(&[("pkcs7_private_key", "/private")], Ok(PRIVATE));
}

#[test]
fn key_options_must_be_strings() {
    let entries = [(Value::str("pkcs7_public_key"), Value::Int(1))];
    assert_eq!(
        KeySource::from_options(&entries.into_iter().collect()),
        Err(KeysError::NotText("pkcs7_public_key"))
    );
}

#[test]
fn keys_are_loaded_through_the_reader() {
    let source = KeySource::from_options(&options(&[
        ("pkcs7_private_key", "/private"),
        ("pkcs7_public_key", "/public"),
    ]));
    let mut seen = Vec::new();
    let keys = Keys::load(&source.unwrap(), |path| {
        seen.push(path.to_string_lossy().into_owned());
        Ok(if path.ends_with("private") {
            PRIVATE
        } else {
            PUBLIC
        }
        .to_vec())
    });
    assert_eq!(seen, ["/private", "/public"]);
    assert_eq!(
        keys.unwrap().decrypt("AAAA"),
        Err(DecryptError::NotAnEnvelope)
    );
}

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }
}

#[test]
fn damaged_envelopes_never_panic_and_never_show_the_plaintext() {
    let keys = keys();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let block = case("two recipients");
    let bytes = base64::decode(block.trim_start_matches("ENC[PKCS7,").as_bytes());
    for _ in 0..6000 {
        let mut damaged = bytes.clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(damaged.len());
            match numbers.below(4) {
                0 => damaged[at] ^= 1 << numbers.below(8),
                1 => damaged[at] = u8::try_from(numbers.below(256)).unwrap(),
                2 => drop(damaged.remove(at)),
                _ => damaged.truncate(at.max(1)),
            }
        }
        if let Err(error) = keys.open(&damaged) {
            assert!(!error.to_string().contains("for two"));
        }
    }
    for _ in 0..3000 {
        let mut text: Vec<char> = block.chars().take(60).collect();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(text.len());
            text[at] = ['E', '[', ']', ',', '=', '\n', 'é', ' '][numbers.below(8)];
        }
        let text: String = text.into_iter().chain("] ENC[".chars()).collect();
        assert_ne!(decrypt_text(&text, &keys).as_deref(), Ok("for two"));
    }
}
