//! A file whose last bytes are in memory: a ZIP is written by going back to the header of each file, which costs no system call here.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use crate::sealing::WrittenSize;

/// Bytes in memory, unless more are written at a time.
const TAIL: usize = 1 << 20;

/// A file, written from its beginning.
pub(super) struct TailFile {
    /// At the position `start`.
    file: File,
    start: u64,
    /// What is written at `start` next.
    tail: Vec<u8>,
    /// The position in `tail`.
    at: usize,
    size: WrittenSize,
}

impl TailFile {
    /// An empty file.
    pub fn new(file: File) -> Self {
        Self {
            file,
            start: 0,
            tail: Vec::with_capacity(TAIL),
            at: 0,
            size: WrittenSize::default(),
        }
    }

    /// The size, with what is in memory.
    pub fn size(&self) -> WrittenSize {
        self.size.clone()
    }

    /// Writes the tail and continues after it.
    fn write_tail(&mut self) -> io::Result<()> {
        self.file.write_all(&self.tail)?;
        self.start += self.tail.len() as u64;
        self.tail.clear();
        self.at = 0;
        Ok(())
    }

    fn position(&self) -> u64 {
        self.start + self.at as u64
    }
}

impl Write for TailFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.at == self.tail.len() && self.at + bytes.len() > TAIL {
            self.write_tail()?;
        }
        let count = if self.at < self.tail.len() {
            let there = &mut self.tail[self.at..];
            let count = there.len().min(bytes.len());
            there[..count].copy_from_slice(&bytes[..count]);
            count
        } else {
            self.tail.extend_from_slice(bytes);
            bytes.len()
        };
        self.at += count;
        self.size.grow_to(self.position());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        let position = self.position();
        self.write_tail()?;
        self.seek(SeekFrom::Start(position))?;
        self.file.flush()
    }
}

impl Seek for TailFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::End(by) => self.size.get().checked_add_signed(by),
            SeekFrom::Current(by) => self.position().checked_add_signed(by),
        };
        let to = to.ok_or(io::ErrorKind::InvalidInput)?;
        match to.checked_sub(self.start).and_then(|at| usize::try_from(at).ok()) {
            Some(at) if at <= self.tail.len() => self.at = at,
            _ => {
                self.write_tail()?;
                self.start = self.file.seek(SeekFrom::Start(to))?;
            }
        }
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One thing that is done to a file.
    #[derive(Clone, Debug)]
    enum Step {
        Write(u8, usize),
        Back(u64),
        ToStart(u64),
        ToEnd,
        Flush,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (any::<u8>(), 0usize..TAIL / 2).prop_map(|(byte, count)| Step::Write(byte, count)),
            1 => (any::<u8>(), TAIL - 2..2 * TAIL).prop_map(|(byte, count)| Step::Write(byte, count)),
            2 => (0..2 * TAIL as u64).prop_map(Step::Back),
            1 => (0..2 * TAIL as u64).prop_map(Step::ToStart),
            2 => Just(Step::ToEnd),
            1 => Just(Step::Flush),
        ]
    }

    fn take(file: &mut (impl Write + Seek), step: &Step) -> u64 {
        match step {
            Step::Write(byte, count) => file.write_all(&vec![*byte; *count]).expect("space"),
            Step::Back(by) => {
                let at = file.stream_position().expect("a position");
                file.seek(SeekFrom::Start(at.saturating_sub(*by))).expect("a place");
            }
            Step::ToStart(by) => drop(file.seek(SeekFrom::Start(*by)).expect("a place")),
            Step::ToEnd => drop(file.seek(SeekFrom::End(0)).expect("the end")),
            Step::Flush => file.flush().expect("space"),
        }
        file.stream_position().expect("a position")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn it_is_written_as_a_file_is(steps in prop::collection::vec(step(), 0..12)) {
            let target = tempfile::NamedTempFile::new().expect("a temporary file");
            let mut tail = TailFile::new(target.reopen().expect("it is there"));
            let mut memory = io::Cursor::new(Vec::new());
            for step in &steps {
                prop_assert_eq!(take(&mut tail, step), take(&mut memory, step), "{:?}", step);
            }
            prop_assert_eq!(tail.size().get(), memory.get_ref().len() as u64);
            tail.flush().expect("space");
            prop_assert!(std::fs::read(target.path()).expect("it is there") == memory.into_inner());
        }
    }
}
