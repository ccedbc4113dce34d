//! The header `expo-signature`: a signature over the exact bytes of a manifest or directive
//! (`docs/reference/expo.md#signatures`). Making and verifying signatures is for whoever has the keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::structured::{self, Item};

/// RSASSA-PKCS1-v1_5 with SHA-256, the only algorithm of the protocol.
pub(super) const ALGORITHM: &str = "rsa-v1_5-sha256";
/// The longest key id, in bytes.
const MAX_KEY_ID_BYTES: usize = 255;
/// The sizes of RSA signatures that are accepted, in bytes: keys of 2,048 to 8,192 bits.
const SIGNATURE_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// The text is not the header of a signature. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an expo-signature header with sig, keyid and alg=\"rsa-v1_5-sha256\"")]
pub struct SignatureError;

/// A signature and the name of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name of the key in the app's settings.
    pub key_id: String,
    /// The bytes of the signature.
    pub bytes: Vec<u8>,
}

impl Signature {
    /// A signature by the key of this name.
    ///
    /// # Errors
    /// The name cannot be written in a header, or the signature does not have the size of an RSA signature.
    pub fn new(key_id: &str, bytes: Vec<u8>) -> Result<Signature, SignatureError> {
        let is_name = (1..=MAX_KEY_ID_BYTES).contains(&key_id.len()) && structured::quoted(key_id).is_some();
        if !is_name || !SIGNATURE_BYTES.contains(&bytes.len()) {
            return Err(SignatureError);
        }
        Ok(Signature {
            key_id: key_id.to_owned(),
            bytes,
        })
    }

    /// Reads the header. Clients read it as we do, so what is stored is what they see.
    ///
    /// # Errors
    /// It is not a dictionary of texts with all three keys, or the algorithm is another one.
    pub fn parse(header: &str) -> Result<Signature, SignatureError> {
        let members = structured::dictionary(header).map_err(|_| SignatureError)?;
        let text = |wanted: &str| {
            let value = members.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value);
            match value {
                Some(Item::Text(text)) => Ok(text.as_ref()),
                _ => Err(SignatureError),
            }
        };
        if text("alg")? != ALGORITHM {
            return Err(SignatureError);
        }
        let bytes = STANDARD.decode(text("sig")?).map_err(|_| SignatureError)?;
        Signature::new(text("keyid")?, bytes)
    }

    /// The value of the header.
    pub fn header(&self) -> String {
        // `new` accepts only names that can be quoted.
        let key_id = structured::quoted(&self.key_id).unwrap_or_default();
        format!(
            "sig=\"{}\", keyid={key_id}, alg=\"{ALGORITHM}\"",
            STANDARD.encode(&self.bytes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_read_as_it_is_written() {
        let signature = Signature::new("main \"2\"", vec![7; 256]).unwrap();
        assert_eq!(Signature::parse(&signature.header()), Ok(signature));
    }

    #[test]
    fn other_headers_are_refused() {
        let good = STANDARD.encode([7; 256]);
        let (short, long) = (STANDARD.encode([7; 255]), STANDARD.encode(vec![7; 1025]));
        for header in [
            String::new(),
            format!("sig=\"{good}\", keyid=\"main\""),
            format!("sig=\"{good}\", alg=\"rsa-v1_5-sha256\""),
            format!("sig=\"{good}\", keyid=\"main\", alg=\"rsa-v1_5-sha512\""),
            format!("sig=\"{good}\", keyid=main, alg=\"rsa-v1_5-sha256\""),
            format!("sig=:{good}:, keyid=\"main\", alg=\"rsa-v1_5-sha256\""),
            format!("sig=\"{good}\", keyid=\"\", alg=\"rsa-v1_5-sha256\""),
            format!("sig=\"{short}\", keyid=\"main\", alg=\"rsa-v1_5-sha256\""),
            format!("sig=\"{long}\", keyid=\"main\", alg=\"rsa-v1_5-sha256\""),
            "sig=\"no Base64\", keyid=\"main\", alg=\"rsa-v1_5-sha256\"".to_owned(),
        ] {
            assert_eq!(Signature::parse(&header), Err(SignatureError), "{header:.80}");
        }
        assert_eq!(Signature::new("schlüssel", vec![7; 256]), Err(SignatureError));
    }
}
