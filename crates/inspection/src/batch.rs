//! Inspects many files in one process, for the fuzzer, which would otherwise spend most of its time starting processes.
//! Each input is two lengths, a task and the bytes; the answer to each is one byte.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use super::confine::{Bounds, give_up_everything};
use super::work::{answer, standard_input};

/// The maximum length of a generated input, in bytes.
const MAX_INPUT: u32 = 64 << 20;

/// Inspects inputs until the end of standard input.
pub(super) fn run() -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let input = standard_input()?;
    let file = memory_file().map_err(text)?;
    let again = file.try_clone().map_err(text)?;
    let bounds = Bounds {
        seconds: 24 * 3600,
        file_size: MAX_INPUT.into(),
        life: Duration::from_secs(24 * 3600),
    };
    // One file descriptor remains available for the handle of each inspection.
    give_up_everything(&again.try_clone().map_err(text)?.into(), bounds)?;
    let (mut input, mut file) = (io::BufReader::new(File::from(input)), file);
    drop(again);
    while let Some((task, bytes)) = next(&mut input).map_err(text)? {
        let task = serde_json::from_slice(&task).map_err(|error| error.to_string())?;
        file.set_len(0).map_err(text)?;
        file.seek(SeekFrom::Start(0)).map_err(text)?;
        file.write_all(&bytes).map_err(text)?;
        file.seek(SeekFrom::Start(0)).map_err(text)?;
        let said = answer(&task, file.try_clone().map_err(text)?);
        // `+` for an accepted file, `-` for any other answer.
        let kind = if said.starts_with(b"{\"read") { b'+' } else { b'-' };
        let mut out = io::stdout();
        out.write_all(&[kind]).and_then(|()| out.flush()).map_err(text)?;
    }
    Ok(())
}

fn next(input: &mut impl Read) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut lengths = [0; 8];
    match input.read_exact(&mut lengths) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut take = |at: usize| -> io::Result<Vec<u8>> {
        let length = u32::from_le_bytes([lengths[at], lengths[at + 1], lengths[at + 2], lengths[at + 3]]);
        let mut bytes = vec![0; length.min(MAX_INPUT) as usize];
        input.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    Ok(Some((take(0)?, take(4)?)))
}

#[cfg(target_os = "linux")]
fn memory_file() -> io::Result<File> {
    let file = rustix::fs::memfd_create("input", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(File::from(file))
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
