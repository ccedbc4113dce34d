//! Mach-O executables, thin and fat: their architectures, the load commands of one slice, and the signed data (CMS) in
//! the code signature. Reads forward only, as compressed data has no random access.

use std::io::{self, Read};

use crate::fields::{Fields, MalformedError};

/// The maximum number of unpacked bytes of an executable.
const MAX_EXECUTABLE: u64 = 2 << 30;
/// In bytes; the hashes of an executable of 2 GiB take 16 MiB.
const MAX_SIGNATURE: usize = 64 << 20;
const MAX_COMMANDS: usize = 4 << 20;
/// The maximum number of slices in a fat file.
const MAX_SLICES: usize = 32;

const THIN_32: [u8; 4] = [0xce, 0xfa, 0xed, 0xfe];
const THIN_64: [u8; 4] = [0xcf, 0xfa, 0xed, 0xfe];
const FAT: [u8; 4] = [0xca, 0xfe, 0xba, 0xbe];
const FAT_64: [u8; 4] = [0xca, 0xfe, 0xba, 0xbf];
const LC_CODE_SIGNATURE: u32 = 0x1d;

const SUPER_BLOB: u64 = 0xfade_0cc0;
/// The slot of the signed data, and the magic number of its blob.
const SIGNATURE_SLOT: u64 = 0x1_0000;
const BLOB_WRAPPER: u64 = 0xfade_0b01;

/// An executable, read up to the end of the load commands of its first slice.
pub(super) struct Executable<R> {
    /// The architectures of all slices.
    pub(super) architectures: Vec<&'static str>,
    /// Whether the slice has 64-bit addresses.
    pub(super) is_64: bool,
    /// The flags of the slice.
    pub(super) flags: u32,
    /// The offset of the slice in the file: offsets in the slice count from there.
    start: u64,
    commands: Vec<u8>,
    command_count: u32,
    file: Forward<R>,
}

impl<R: Read> Executable<R> {
    pub(super) fn open(inner: R) -> Result<Self, MalformedError> {
        let mut file = Forward { inner, at: 0 };
        let (mut start, mut architectures) = (0, Vec::new());
        let mut mark = file.take(4)?;
        if mark == FAT || mark == FAT_64 {
            (start, architectures) = slices(&mut file, mark == FAT_64)?;
            file.skip_to(start)?;
            mark = file.take(4)?;
        }
        let is_64 = mark == THIN_64;
        if !is_64 && mark != THIN_32 {
            return Err(MalformedError);
        }
        let header = file.take(if is_64 { 28 } else { 24 })?;
        let mut header = Fields(&header);
        let (processor, variant) = (header.u32()?, header.u32()?);
        // The file type.
        header.skip(4)?;
        let (command_count, size, flags) = (header.u32()?, header.size()?, header.u32()?);
        if architectures.is_empty() {
            architectures.push(architecture(processor.into(), variant.into()));
        }
        if size > MAX_COMMANDS {
            return Err(MalformedError);
        }
        Ok(Self {
            architectures,
            is_64,
            flags,
            start,
            commands: file.take(size)?,
            command_count,
            file,
        })
    }

    /// The load commands: kind, and the bytes after kind and size. Ends after a malformed one.
    pub(super) fn commands(&self) -> impl Iterator<Item = Result<(u32, Fields<'_>), MalformedError>> {
        let mut rest = Fields(&self.commands);
        let mut left = self.command_count;
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let command = next_command(&mut rest);
            if command.is_err() {
                left = 0;
            }
            Some(command)
        })
    }

    /// `count` bytes from an offset in the slice. Offsets must ascend.
    pub(super) fn take_at(&mut self, place: u64, count: usize) -> Result<Vec<u8>, MalformedError> {
        self.file
            .skip_to(self.start.checked_add(place).ok_or(MalformedError)?)?;
        self.file.take(count)
    }
}

/// The signed data of the executable, or of the first slice of a fat one; `None` if it is unsigned or ad-hoc signed.
pub(super) fn signature(executable: impl Read) -> Result<Option<Vec<u8>>, MalformedError> {
    let mut executable = Executable::open(executable.take(MAX_EXECUTABLE))?;
    let Some((offset, length)) = find_signature(&executable)? else {
        return Ok(None);
    };
    if length > MAX_SIGNATURE {
        return Err(MalformedError);
    }
    signed_data(&executable.take_at(offset, length)?)
}

/// The offset of the first slice of a fat file, and the architectures of all slices.
fn slices(file: &mut Forward<impl Read>, is_64: bool) -> Result<(u64, Vec<&'static str>), MalformedError> {
    let count = Fields(&file.take(4)?).big_endian_size(4)?;
    if count == 0 || count > MAX_SLICES {
        return Err(MalformedError);
    }
    let size = if is_64 { 32 } else { 20 };
    let table = file.take(count * size)?;
    let start = Fields::at(&table, 8)?.big_endian(if is_64 { 8 } else { 4 })?;
    let mut architectures = Vec::new();
    for slice in table.chunks_exact(size) {
        let mut slice = Fields(slice);
        architectures.push(architecture(slice.big_endian(4)?, slice.big_endian(4)?));
    }
    Ok((start, architectures))
}

/// Apple's name for a CPU type and subtype (`mach/machine.h`).
fn architecture(processor: u64, variant: u64) -> &'static str {
    // The upper byte of the subtype contains flags.
    match (processor, variant & 0xff_ffff) {
        (0x100_000c, 2) => "arm64e",
        (0x100_000c, _) => "arm64",
        (0x200_000c, _) => "arm64_32",
        (0xc, 9) => "armv7",
        (0xc, 11) => "armv7s",
        (0xc, _) => "arm",
        (0x100_0007, _) => "x86_64",
        (0x7, _) => "i386",
        _ => "unknown",
    }
}

fn next_command<'a>(rest: &mut Fields<'a>) -> Result<(u32, Fields<'a>), MalformedError> {
    let (command, size) = (rest.u32()?, rest.size()?);
    Ok((command, Fields(rest.take(size.checked_sub(8).ok_or(MalformedError)?)?)))
}

/// The offset of the code signature in the slice, and its length.
fn find_signature<R: Read>(executable: &Executable<R>) -> Result<Option<(u64, usize)>, MalformedError> {
    for command in executable.commands() {
        let (command, mut body) = command?;
        if command == LC_CODE_SIGNATURE {
            return Ok(Some((body.u32()?.into(), body.size()?)));
        }
    }
    Ok(None)
}

/// The signed data in a code signature. An ad-hoc signature has none, or an empty one.
fn signed_data(signature: &[u8]) -> Result<Option<Vec<u8>>, MalformedError> {
    let mut index = Fields(signature);
    if index.big_endian(4)? != SUPER_BLOB {
        return Err(MalformedError);
    }
    index.skip(4)?;
    for _ in 0..index.big_endian(4)? {
        let (slot, offset) = (index.big_endian(4)?, index.big_endian_size(4)?);
        if slot != SIGNATURE_SLOT {
            continue;
        }
        let mut blob = Fields::at(signature, offset)?;
        if blob.big_endian(4)? != BLOB_WRAPPER {
            return Err(MalformedError);
        }
        let length = blob.big_endian_size(4)?.checked_sub(8).ok_or(MalformedError)?;
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
    fn skip_to(&mut self, place: u64) -> Result<(), MalformedError> {
        let distance = place.checked_sub(self.at).ok_or(MalformedError)?;
        let skipped = io::copy(&mut (&mut self.inner).take(distance), &mut io::sink());
        self.at = place;
        if skipped.is_ok_and(|skipped| skipped == distance) {
            Ok(())
        } else {
            Err(MalformedError)
        }
    }

    /// `count` bytes. Memory grows only with the bytes that exist.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, MalformedError> {
        let mut bytes = Vec::new();
        let read = (&mut self.inner).take(count as u64).read_to_end(&mut bytes);
        self.at += bytes.len() as u64;
        if read.is_ok() && bytes.len() == count {
            Ok(bytes)
        } else {
            Err(MalformedError)
        }
    }
}
