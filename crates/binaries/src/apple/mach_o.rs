//! Mach-O executables, thin and fat: their architectures, and of each slice the load commands, and the signed data (CMS) and
//! the entitlements in the code signature. Reads forward only, as compressed data has no random access.

use std::io::{self, Read};

use crate::fields::{Fields, MalformedError};

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
/// The slot of the entitlements, and the magic number of their blob.
const ENTITLEMENTS_SLOT: u64 = 5;
const ENTITLEMENTS: u64 = 0xfade_7171;

/// An executable: one slice, or a fat file of several.
pub(super) struct MachO<R> {
    /// The architectures that the table of a fat file names; empty for a thin one.
    pub(super) architectures: Vec<&'static str>,
    /// The offsets of the slices that were not read yet, ascending.
    starts: std::vec::IntoIter<u64>,
    /// The mark of a thin file, which was read with the file's.
    mark: Option<Vec<u8>>,
    file: Forward<R>,
}

/// A slice, read up to the end of its load commands.
pub(super) struct Slice<'m, R> {
    /// The architecture.
    pub(super) architecture: &'static str,
    /// Whether it has 64-bit addresses.
    pub(super) is_64: bool,
    /// Its flags.
    pub(super) flags: u32,
    /// Its offset in the file: offsets in the slice count from there.
    start: u64,
    commands: Vec<u8>,
    command_count: u32,
    file: &'m mut Forward<R>,
}

/// The parts of a code signature that are read.
#[derive(Default)]
pub(super) struct CodeSignature {
    /// The signed data (CMS); `None` if the slice is unsigned or ad-hoc signed.
    pub(super) signed: Option<Vec<u8>>,
    /// The entitlements, an XML property list.
    pub(super) entitlements: Option<Vec<u8>>,
}

impl<R: Read> MachO<R> {
    pub(super) fn open(inner: R) -> Result<Self, MalformedError> {
        let mut file = Forward { inner, at: 0 };
        let mark = file.take(4)?;
        let is_fat = mark == FAT || mark == FAT_64;
        let (mut starts, architectures) = if is_fat {
            slices(&mut file, mark == FAT_64)?
        } else {
            (vec![0], Vec::new())
        };
        starts.sort_unstable();
        Ok(Self {
            architectures,
            starts: starts.into_iter(),
            mark: (!is_fat).then_some(mark),
            file,
        })
    }

    /// The next slice, in the order of the file. Slices that overlap are malformed.
    pub(super) fn next_slice(&mut self) -> Option<Result<Slice<'_, R>, MalformedError>> {
        let start = self.starts.next()?;
        let mark = self.mark.take();
        Some(Slice::open(&mut self.file, start, mark))
    }
}

impl<'m, R: Read> Slice<'m, R> {
    fn open(file: &'m mut Forward<R>, start: u64, mark: Option<Vec<u8>>) -> Result<Self, MalformedError> {
        let mark = match mark {
            Some(mark) => mark,
            None => {
                file.skip_to(start)?;
                file.take(4)?
            }
        };
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
        if size > MAX_COMMANDS {
            return Err(MalformedError);
        }
        Ok(Self {
            architecture: architecture(processor.into(), variant.into()),
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

    /// The code signature, which is empty if there is none.
    pub(super) fn signature(&mut self) -> Result<CodeSignature, MalformedError> {
        let Some((offset, length)) = self.find_signature()? else {
            return Ok(CodeSignature::default());
        };
        if length > MAX_SIGNATURE {
            return Err(MalformedError);
        }
        signature_parts(&self.take_at(offset, length)?)
    }

    /// The offset of the code signature in the slice, and its length.
    fn find_signature(&self) -> Result<Option<(u64, usize)>, MalformedError> {
        for command in self.commands() {
            let (command, mut body) = command?;
            if command == LC_CODE_SIGNATURE {
                return Ok(Some((body.u32()?.into(), body.size()?)));
            }
        }
        Ok(None)
    }
}

/// The offsets and the architectures of the slices of a fat file.
fn slices(file: &mut Forward<impl Read>, is_64: bool) -> Result<(Vec<u64>, Vec<&'static str>), MalformedError> {
    let count = Fields(&file.take(4)?).big_endian_size(4)?;
    if count == 0 || count > MAX_SLICES {
        return Err(MalformedError);
    }
    let size = if is_64 { 32 } else { 20 };
    let table = file.take(count * size)?;
    let (mut starts, mut architectures) = (Vec::new(), Vec::new());
    for slice in table.chunks_exact(size) {
        let mut slice = Fields(slice);
        architectures.push(architecture(slice.big_endian(4)?, slice.big_endian(4)?));
        starts.push(slice.big_endian(if is_64 { 8 } else { 4 })?);
    }
    Ok((starts, architectures))
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

/// The parts of a code signature. An ad-hoc signature has no signed data, or an empty one.
fn signature_parts(signature: &[u8]) -> Result<CodeSignature, MalformedError> {
    let mut index = Fields(signature);
    if index.big_endian(4)? != SUPER_BLOB {
        return Err(MalformedError);
    }
    index.skip(4)?;
    let mut parts = CodeSignature::default();
    for _ in 0..index.big_endian(4)? {
        let (slot, offset) = (index.big_endian(4)?, index.big_endian_size(4)?);
        let (mark, part) = match slot {
            SIGNATURE_SLOT => (BLOB_WRAPPER, &mut parts.signed),
            ENTITLEMENTS_SLOT => (ENTITLEMENTS, &mut parts.entitlements),
            _ => continue,
        };
        let mut blob = Fields::at(signature, offset)?;
        if blob.big_endian(4)? != mark {
            return Err(MalformedError);
        }
        let length = blob.big_endian_size(4)?.checked_sub(8).ok_or(MalformedError)?;
        let content = blob.take(length)?;
        // The first of a kind counts.
        if part.is_none() && !content.is_empty() {
            *part = Some(content.to_vec());
        }
    }
    Ok(parts)
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
