//! Bounds work on untrusted files: it ends when the build is stopped, and after a maximum number of entries.

use std::io::{self, Read};

use crate::stop::Stopper;

/// The remaining budget of work on a tree.
pub struct Effort<'s> {
    stopper: &'s Stopper,
    most: u64,
    left: u64,
}

/// Why work on a tree ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EffortError {
    /// The build is stopped.
    #[error("the build was stopped")]
    Stopped,
    /// The tree has more entries than this limit.
    #[error("there are more than {0} files and folders")]
    TooMany(u64),
}

impl<'s> Effort<'s> {
    /// A budget of `entries` entries that also ends when the build is stopped.
    pub fn new(stopper: &'s Stopper, entries: u64) -> Self {
        Self {
            stopper,
            most: entries,
            left: entries,
        }
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// The limit is exceeded, or the build is stopped.
    pub fn entry(&mut self) -> io::Result<()> {
        self.check_stopped()?;
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| io::Error::other(EffortError::TooMany(self.most)))?;
        Ok(())
    }

    /// Checks for a stop between two parts of long work.
    ///
    /// # Errors
    /// The build is stopped.
    pub fn check_stopped(&self) -> io::Result<()> {
        check_stopped(self.stopper)
    }
}

/// A reader that fails once the build is stopped, even if more bytes are available.
pub struct Reading<'s, R> {
    inner: R,
    stopper: &'s Stopper,
}

impl<'s, R: Read> Reading<'s, R> {
    /// Wraps a reader.
    pub fn new(inner: R, stopper: &'s Stopper) -> Self {
        Self { inner, stopper }
    }
}

impl<R: Read> Read for Reading<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        check_stopped(self.stopper)?;
        self.inner.read(buffer)
    }
}

fn check_stopped(stopper: &Stopper) -> io::Result<()> {
    match stopper.is_stopped() {
        true => Err(io::Error::other(EffortError::Stopped)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::StopReason;

    #[test]
    fn work_ends_after_its_entries_and_with_the_build() {
        let stopper = Stopper::default();
        let mut effort = Effort::new(&stopper, 2);
        effort.entry().unwrap();
        effort.entry().unwrap();
        assert_eq!(
            effort.entry().unwrap_err().to_string(),
            "there are more than 2 files and folders"
        );
        let mut endless = Reading::new(io::repeat(0), &stopper);
        endless.read_exact(&mut [0; 100]).unwrap();
        stopper.stop(StopReason::Canceled);
        assert!(effort.check_stopped().is_err());
        assert_eq!(
            io::copy(&mut endless, &mut io::sink()).unwrap_err().to_string(),
            "the build was stopped"
        );
    }
}
