//! A folder in memory that knows what survives a power cut, and at which a process dies or an operation fails.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::snapshot::{Disk, DiskFile};

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails, and so does everything after it: the process has ended.
    Dies,
    /// It fails once.
    Fails,
}

/// A folder in memory. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Contents by number: all that was written, and how much of it is on disk.
    contents: Vec<(Vec<u8>, usize)>,
    names: BTreeMap<String, usize>,
    /// The names that are on disk.
    durable: BTreeMap<String, usize>,
    /// Operations until the fault.
    left: Option<(usize, Fault)>,
    is_dead: bool,
}

/// An operation that changes the disk.
enum Turn {
    Works,
    /// A part of it is done.
    Breaks,
}

impl MemoryDisk {
    /// The same disk with a fault after so many further operations.
    pub fn fault_after(&self, operations: usize, fault: Fault) {
        self.state().left = Some((operations, fault));
    }

    /// Whether the process has ended.
    pub fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    /// Whether the fault has happened.
    pub fn had_fault(&self) -> bool {
        self.state().left.is_none()
    }

    /// What the next process finds: everything that was written, or, after a power cut, what was synced.
    pub fn restarted(&self, power_cut: bool) -> MemoryDisk {
        let state = self.state();
        let names = if power_cut { &state.durable } else { &state.names };
        let files: Vec<(String, Vec<u8>)> = names
            .iter()
            .map(|(name, number)| {
                let (bytes, synced) = &state.contents[*number];
                let length = if power_cut { *synced } else { bytes.len() };
                (name.clone(), bytes[..length].to_vec())
            })
            .collect();
        drop(state);
        let disk = MemoryDisk::default();
        files.into_iter().for_each(|(name, bytes)| disk.put(&name, bytes));
        disk
    }

    /// The bytes of a file.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let number = state.names.get(name)?;
        Some(state.contents[*number].0.clone())
    }

    /// Deletes a file, as somebody else does.
    pub fn delete(&self, name: &str) {
        let mut state = self.state();
        state.names.remove(name);
        state.durable.remove(name);
    }

    /// Puts a file there.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.state();
        let number = state.contents.len();
        let length = bytes.len();
        state.contents.push((bytes, length));
        state.names.insert(name.to_owned(), number);
        state.durable.insert(name.to_owned(), number);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics here")
    }
}

impl State {
    fn turn(&mut self) -> io::Result<Turn> {
        if self.is_dead {
            return Err(ErrorKind::BrokenPipe.into());
        }
        match self.left {
            Some((0, fault)) => {
                self.left = None;
                self.is_dead = fault == Fault::Dies;
                Ok(Turn::Breaks)
            }
            Some((left, fault)) => {
                self.left = Some((left - 1, fault));
                Ok(Turn::Works)
            }
            None => Ok(Turn::Works),
        }
    }

    /// An operation that is done or not.
    fn step(&mut self) -> io::Result<()> {
        match self.turn()? {
            Turn::Works => Ok(()),
            Turn::Breaks => Err(ErrorKind::StorageFull.into()),
        }
    }
}

impl Disk for MemoryDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let bytes = self.get(name).ok_or(ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.step()?;
        let number = state.contents.len();
        state.contents.push((Vec::new(), 0));
        state.names.insert(name.to_owned(), number);
        Ok(Box::new(MemoryFile {
            disk: self.clone(),
            number,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        let number = state.names.remove(from).ok_or(ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), number);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        state.names.remove(name);
        Ok(())
    }

    fn empty(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        if let Some(number) = state.names.get(name).copied() {
            state.contents[number] = (Vec::new(), 0);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state();
        state.step()?;
        state.durable = state.names.clone();
        Ok(())
    }
}

struct MemoryFile {
    disk: MemoryDisk,
    number: usize,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        let turn = state.turn()?;
        let (content, _) = &mut state.contents[self.number];
        match turn {
            Turn::Works => {
                content.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Turn::Breaks => {
                content.extend_from_slice(&bytes[..bytes.len() / 2]);
                Err(ErrorKind::StorageFull.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.step()?;
        let (content, synced) = &mut state.contents[self.number];
        *synced = content.len();
        Ok(())
    }
}
