//! Where the files of a package are in it, as JSON that is stored with the package, so that they can be served from there. The JSON
//! is short, since a package has thousands of files.

use serde::{Deserialize, Serialize};

/// Where the data of a file are in a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The size of the content in bytes.
    #[serde(rename = "s")]
    pub size: u64,
    /// The offset of the data.
    #[serde(rename = "a")]
    pub start: u64,
    /// The number of bytes of the data.
    #[serde(rename = "n")]
    pub length: u64,
    /// Whether the data are a Deflate stream.
    #[serde(rename = "z")]
    pub is_deflated: bool,
    /// The CRC-32 of the content.
    #[serde(rename = "c")]
    pub checksum: u32,
}

/// Hashes in Base64, the shortest text.
pub(crate) mod hash_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(hash: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(hash))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(D::Error::custom)?;
        bytes.try_into().map_err(|_| D::Error::custom("a hash has 32 bytes"))
    }
}
