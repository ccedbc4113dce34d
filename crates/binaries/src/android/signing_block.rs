//! The APK Signing Block, which precedes the central directory of the archive, and the certificate of its newest
//! scheme.

use crate::facts::Scheme;
use crate::fields::{Fields, MalformedError};

/// The maximum size of a block in bytes. Usual ones have 4 KiB to some hundred KiB.
pub(super) const MAX_BLOCK: u64 = 16 << 20;

const MAGIC: &[u8] = b"APK Sig Block 42";
/// The size of the footer: the block's length and its magic number.
const FOOTER: usize = 24;
/// Newest first.
const SCHEMES: [(u32, Scheme); 3] = [
    (0x1b93_ad61, Scheme::V31),
    (0xf053_68c0, Scheme::V3),
    (0x7109_871a, Scheme::V2),
];

/// The first signer's certificate in DER, in the newest scheme of the block at the end of `bytes`; `None` if there is
/// no block.
pub(super) fn certificate(bytes: &[u8]) -> Result<Option<(Scheme, &[u8])>, MalformedError> {
    if !bytes.ends_with(MAGIC) {
        return Ok(None);
    }
    let footer = bytes.len().checked_sub(FOOTER).ok_or(MalformedError)?;
    let length = usize::try_from(Fields::at(bytes, footer)?.u64()?).map_err(|_| MalformedError)?;
    // The length includes the footer, but not the length field at the start.
    let pairs = length.checked_sub(FOOTER).and_then(|pairs| footer.checked_sub(pairs));
    let pairs = &bytes[pairs.ok_or(MalformedError)?..footer];
    for (id, scheme) in SCHEMES {
        if let Some(value) = find(Fields(pairs), id)? {
            return Ok(Some((scheme, first_certificate(value)?)));
        }
    }
    Ok(None)
}

/// The value of the first pair with this id.
fn find(mut pairs: Fields<'_>, id: u32) -> Result<Option<Fields<'_>>, MalformedError> {
    while !pairs.is_empty() {
        let length = usize::try_from(pairs.u64()?).map_err(|_| MalformedError)?;
        let mut pair = Fields(pairs.take(length)?);
        if pair.u32()? == id {
            return Ok(Some(pair));
        }
    }
    Ok(None)
}

/// The first certificate of the first signer. All schemes start with the signers, which start with the signed data,
/// which starts with digests and certificates.
fn first_certificate(mut value: Fields<'_>) -> Result<&[u8], MalformedError> {
    let mut signed_data = value.prefixed()?.prefixed()?.prefixed()?;
    let _digests = signed_data.prefixed()?;
    Ok(signed_data.prefixed()?.prefixed()?.0)
}
