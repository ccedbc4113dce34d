//! The frames of a file: a length with its complement, a kind, the content, and a MAC over all of them and the MAC before.
//! So no frame can be changed, moved, left out or added.

use std::io::{self, Read};

use launchway_domain::mac::MacKey;
use subtle::ConstantTimeEq;

/// The maximum number of bytes in a frame, its kind included.
pub const MAX_FRAME: usize = 2 << 20;
const MAC_BYTES: usize = 32;

/// What a frame contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The header of a file.
    Header = 1,
    /// Rows.
    Rows = 2,
    /// The end of a bundle's rows in a journal.
    Bundle = 3,
    /// Nothing changed until a time.
    Beat = 4,
    /// The end of a snapshot.
    End = 5,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        let kinds = [Kind::Header, Kind::Rows, Kind::Bundle, Kind::Beat, Kind::End];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Why no frame can be read.
#[derive(Debug)]
pub enum FrameError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file ends inside the frame.
    Short,
    /// The frame is not one that was written here.
    Damaged,
}

/// Writes frames.
pub struct FrameWriter {
    key: MacKey,
    before: [u8; MAC_BYTES],
}

impl FrameWriter {
    /// Writes from the start of a file on.
    pub fn new(key: &MacKey) -> FrameWriter {
        FrameWriter {
            key: key.clone(),
            before: [0; MAC_BYTES],
        }
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`].
    pub fn push(&mut self, out: &mut Vec<u8>, kind: Kind, content: &[u8]) -> io::Result<()> {
        let length = content.len() + 1;
        if length > MAX_FRAME {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = (length as u32).to_le_bytes();
        let kind = [kind as u8];
        let mac = self.key.of(&[&self.before, &length, &kind, content]);
        out.extend_from_slice(&length);
        out.extend_from_slice(&length.map(|byte| !byte));
        out.extend_from_slice(&kind);
        out.extend_from_slice(content);
        out.extend_from_slice(&mac);
        self.before = mac;
        Ok(())
    }
}

/// Reads frames.
pub struct FrameReader<R> {
    input: R,
    key: MacKey,
    before: [u8; MAC_BYTES],
}

impl<R: Read> FrameReader<R> {
    /// Reads from the start of a file's frames on.
    pub fn new(input: R, key: &MacKey) -> FrameReader<R> {
        FrameReader {
            input,
            key: key.clone(),
            before: [0; MAC_BYTES],
        }
    }

    /// The next frame; `None` at the end of the file.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn next(&mut self) -> Result<Option<(Kind, Vec<u8>)>, FrameError> {
        let head = self.take(8)?;
        let Some((length, complement)) = head.split_first_chunk::<4>() else {
            return if head.is_empty() {
                Ok(None)
            } else {
                Err(FrameError::Short)
            };
        };
        if complement.len() < 4 {
            return Err(FrameError::Short);
        }
        let is_length = length.iter().zip(complement).all(|(byte, other)| *byte == !*other);
        let count = u32::from_le_bytes(*length) as usize;
        if !is_length || !(1..=MAX_FRAME).contains(&count) {
            return Err(FrameError::Damaged);
        }
        let mut body = self.take(count + MAC_BYTES)?;
        if body.len() < count + MAC_BYTES {
            return Err(FrameError::Short);
        }
        let mac = body.split_off(count);
        let expected = self.key.of(&[&self.before, length, &body]);
        if !bool::from(mac.ct_eq(&expected)) {
            return Err(FrameError::Damaged);
        }
        self.before = expected;
        let kind = Kind::of(body.remove(0)).ok_or(FrameError::Damaged)?;
        Ok(Some((kind, body)))
    }

    /// The next so many bytes, or fewer at the end. Memory grows with the bytes that there are.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, FrameError> {
        let mut bytes = Vec::new();
        let mut part = self.input.by_ref().take(count as u64);
        part.read_to_end(&mut bytes).map_err(FrameError::Io)?;
        Ok(bytes)
    }
}
