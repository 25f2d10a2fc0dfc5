//! A PKCS#7 envelope → its content.

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptionContext, PaddedBlockDecryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rsa::Pkcs1PrivateDecryptingKey;
use cms::cert::IssuerAndSerialNumber;
use cms::cert::x509::der::asn1::{ObjectIdentifier, OctetString};
use cms::cert::x509::der::{self, Decode, SliceReader};
use cms::content_info::ContentInfo;
use cms::enveloped_data::{
    EncryptedContentInfo, EnvelopedData, RecipientIdentifier, RecipientInfo,
};

use super::DecryptError;

const ENVELOPED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.3");

/// Opens an envelope with a private key, for the given recipient or else for any. Bytes after the envelope are ignored,
/// as in OpenSSL.
pub(super) fn open(
    bytes: &[u8],
    private: &Pkcs1PrivateDecryptingKey,
    recipient: Option<&IssuerAndSerialNumber>,
) -> Result<Vec<u8>, DecryptError> {
    let envelope = parse(bytes).map_err(|_| DecryptError::NotAnEnvelope)?;
    let content = envelope.encrypted_content;
    let algorithm = algorithm(&content.content_enc_alg.oid)
        .ok_or_else(|| DecryptError::Algorithm(content.content_enc_alg.oid.to_string()))?;
    let mut error = DecryptError::Recipient;
    // Several may match: eyaml gives all its certificates the same issuer and serial number.
    for info in envelope.recip_infos.0.iter() {
        if let RecipientInfo::Ktri(info) = info
            && let RecipientIdentifier::IssuerAndSerialNumber(id) = &info.rid
            && recipient.is_none_or(|recipient| id == recipient)
        {
            if let Some(plain) = decrypt(private, &info.enc_key, algorithm, &content) {
                return Ok(plain);
            }
            error = DecryptError::Undecryptable;
        }
    }
    Err(error)
}

fn parse(bytes: &[u8]) -> der::Result<EnvelopedData> {
    let mut reader = SliceReader::new(bytes)?;
    let info = ContentInfo::decode(&mut reader)?;
    info.content_type
        .eq(&ENVELOPED_DATA)
        .then_some(())
        .ok_or(der::ErrorKind::Failed)?;
    info.content.decode_as()
}

/// AES in CBC mode, of any size.
fn algorithm(oid: &ObjectIdentifier) -> Option<&'static Algorithm> {
    const AES_128_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2");
    const AES_192_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22");
    const AES_256_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");
    match *oid {
        AES_128_CBC => Some(&AES_128),
        AES_192_CBC => Some(&AES_192),
        AES_256_CBC => Some(&AES_256),
        _ => None,
    }
}

/// The content, or `None`: errors must not reveal which step failed.
fn decrypt(
    private: &Pkcs1PrivateDecryptingKey,
    encrypted_key: &OctetString,
    algorithm: &'static Algorithm,
    content: &EncryptedContentInfo,
) -> Option<Vec<u8>> {
    let mut buffer = vec![0; private.min_output_size()];
    let key = private
        .decrypt(encrypted_key.as_bytes(), &mut buffer)
        .ok()?;
    let key = UnboundCipherKey::new(algorithm, key).ok()?;
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key).ok()?;

    let parameters = content.content_enc_alg.parameters.as_ref()?;
    let iv: OctetString = parameters.decode_as().ok()?;
    let iv: [u8; 16] = iv.as_bytes().try_into().ok()?;
    let mut text = content.encrypted_content.as_ref()?.as_bytes().to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(iv));
    Some(key.decrypt(&mut text, context).ok()?.to_vec())
}
