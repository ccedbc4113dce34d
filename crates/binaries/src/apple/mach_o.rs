//! Mach-O executables, thin and fat: only the signed data (CMS) in the code signature. Reads forward, since what is packed
//! cannot be read in another order.

use std::io::{self, Read};

use crate::fields::{Fields, Malformed};

/// The most of an executable that is unpacked.
const MAX_EXECUTABLE: u64 = 2 << 30;
/// Hashes of a whole executable of 2 GiB take 16 MiB.
const MAX_SIGNATURE: usize = 64 << 20;
const MAX_COMMANDS: usize = 4 << 20;
/// Processors in one fat file.
const MAX_SLICES: usize = 32;

const THIN_32: [u8; 4] = [0xce, 0xfa, 0xed, 0xfe];
const THIN_64: [u8; 4] = [0xcf, 0xfa, 0xed, 0xfe];
const FAT: [u8; 4] = [0xca, 0xfe, 0xba, 0xbe];
const FAT_64: [u8; 4] = [0xca, 0xfe, 0xba, 0xbf];
const LC_CODE_SIGNATURE: u32 = 0x1d;

const SUPER_BLOB: u64 = 0xfade_0cc0;
/// The slot of the signed data, and the mark of what lies there.
const SIGNATURE_SLOT: u64 = 0x1_0000;
const BLOB_WRAPPER: u64 = 0xfade_0b01;

/// The signed data of an executable, of a fat one's first slice; `None` where it is not signed, or signed by nobody.
pub(super) fn signature(executable: impl Read) -> Result<Option<Vec<u8>>, Malformed> {
    let mut file = Forward {
        inner: executable.take(MAX_EXECUTABLE),
        at: 0,
    };
    let mut start = 0;
    let mut mark = file.take(4)?;
    if mark == FAT || mark == FAT_64 {
        start = first_slice(&mut file, mark == FAT_64)?;
        file.skip_to(start)?;
        mark = file.take(4)?;
    }
    let is_64 = mark == THIN_64;
    if !is_64 && mark != THIN_32 {
        return Err(Malformed);
    }
    // Processor, its variant, and the kind of file.
    let header = file.take(if is_64 { 28 } else { 24 })?;
    let mut header = Fields::at(&header, 12)?;
    let (count, size) = (header.u32()?, header.size()?);
    if size > MAX_COMMANDS {
        return Err(Malformed);
    }
    let commands = file.take(size)?;
    let Some((offset, length)) = find_signature(&commands, count)? else {
        return Ok(None);
    };
    if length > MAX_SIGNATURE {
        return Err(Malformed);
    }
    file.skip_to(start.checked_add(offset).ok_or(Malformed)?)?;
    signed_data(&file.take(length)?)
}

/// Where the first slice of a fat file starts.
fn first_slice(file: &mut Forward<impl Read>, is_64: bool) -> Result<u64, Malformed> {
    let count = Fields(&file.take(4)?).big_endian_size(4)?;
    if count == 0 || count > MAX_SLICES {
        return Err(Malformed);
    }
    let table = file.take(count * if is_64 { 32 } else { 20 })?;
    Fields::at(&table, 8)?.big_endian(if is_64 { 8 } else { 4 })
}

/// Where the code signature lies, from the start of the slice, and its length.
fn find_signature(commands: &[u8], count: u32) -> Result<Option<(u64, usize)>, Malformed> {
    let mut rest = Fields(commands);
    for _ in 0..count {
        let (command, size) = (rest.u32()?, rest.size()?);
        let mut body = Fields(rest.take(size.checked_sub(8).ok_or(Malformed)?)?);
        if command == LC_CODE_SIGNATURE {
            return Ok(Some((body.u32()?.into(), body.size()?)));
        }
    }
    Ok(None)
}

/// The signed data in a code signature. One made without a certificate has none, or an empty one.
fn signed_data(signature: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
    let mut index = Fields(signature);
    if index.big_endian(4)? != SUPER_BLOB {
        return Err(Malformed);
    }
    index.skip(4)?;
    for _ in 0..index.big_endian(4)? {
        let (slot, offset) = (index.big_endian(4)?, index.big_endian_size(4)?);
        if slot != SIGNATURE_SLOT {
            continue;
        }
        let mut blob = Fields::at(signature, offset)?;
        if blob.big_endian(4)? != BLOB_WRAPPER {
            return Err(Malformed);
        }
        let length = blob.big_endian_size(4)?.checked_sub(8).ok_or(Malformed)?;
        let content = blob.take(length)?;
        return Ok((!content.is_empty()).then(|| content.to_vec()));
    }
    Ok(None)
}

/// Reads forward only.
struct Forward<R> {
    inner: R,
    at: u64,
}

impl<R: Read> Forward<R> {
    fn skip_to(&mut self, place: u64) -> Result<(), Malformed> {
        let distance = place.checked_sub(self.at).ok_or(Malformed)?;
        let skipped = io::copy(&mut (&mut self.inner).take(distance), &mut io::sink());
        self.at = place;
        if skipped.is_ok_and(|skipped| skipped == distance) {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    /// That many bytes. Memory grows only with what is there.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, Malformed> {
        let mut bytes = Vec::new();
        let read = (&mut self.inner).take(count as u64).read_to_end(&mut bytes);
        self.at += bytes.len() as u64;
        if read.is_ok() && bytes.len() == count {
            Ok(bytes)
        } else {
            Err(Malformed)
        }
    }
}
