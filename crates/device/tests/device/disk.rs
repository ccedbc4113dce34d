//! An in-memory disk that counts its calls, fails or dies at one of them, and loses unsynced data when the power is
//! cut.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use launchway_device::ports::{Kind, Lock, Source, Storage, Target};

#[derive(Clone, Copy, PartialEq)]
enum Node {
    Folder,
    File(u64),
}

#[derive(Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// This call fails, and those after it do not.
    Fails,
    /// The process dies in the middle of it.
    Dies,
}

/// What a death leaves on the disk.
#[derive(Clone, Copy, Debug)]
pub enum Leaves {
    /// The process was killed: all data.
    Everything,
    /// The power was cut: synced data only.
    SyncOutcome,
    /// The power was cut: all names, but only synced bytes.
    NamesAndSyncedBytes,
}

pub const ALL_DEATHS: [Leaves; 3] = [Leaves::Everything, Leaves::SyncOutcome, Leaves::NamesAndSyncedBytes];

#[derive(Clone, Default)]
struct Inner {
    inodes: BTreeMap<u64, Inode>,
    names: BTreeMap<String, Node>,
    synced_names: BTreeMap<String, Node>,
    next_inode: u64,
    calls: usize,
    fault: Option<(usize, Fault)>,
    dead: bool,
    free: u64,
}

/// The disk.
#[derive(Clone)]
pub struct Disk(Rc<RefCell<Inner>>);

impl Disk {
    pub fn new() -> Self {
        let inner = Inner {
            free: 1 << 40,
            ..Inner::default()
        };
        Self(Rc::new(RefCell::new(inner)))
    }

    /// A copy with the same content that fails at its call of this number, counted from 1.
    pub fn with_fault(&self, call: usize, fault: Fault) -> Self {
        let copy = self.copy();
        copy.0.borrow_mut().fault = Some((call, fault));
        copy
    }

    /// A copy with the same content, without faults.
    pub fn copy(&self) -> Self {
        let mut inner = self.0.borrow().clone();
        let nodes = inner.names.values().chain(inner.synced_names.values());
        let used: BTreeSet<u64> = nodes
            .filter_map(|node| match node {
                Node::File(inode) => Some(*inode),
                Node::Folder => None,
            })
            .collect();
        inner.inodes.retain(|inode, _| used.contains(inode));
        (inner.calls, inner.fault, inner.dead) = (0, None, false);
        Self(Rc::new(RefCell::new(inner)))
    }

    /// The disk as found by the next process.
    pub fn after_death(&self, leaves: Leaves) -> Self {
        let copy = self.copy();
        {
            let mut inner = copy.0.borrow_mut();
            if let Leaves::SyncOutcome = leaves {
                inner.names = inner.synced_names.clone();
                let names = inner.names.clone();
                inner
                    .names
                    .retain(|path, _| ancestors(path).all(|folder| names.get(folder) == Some(&Node::Folder)));
            }
            if !matches!(leaves, Leaves::Everything) {
                inner
                    .inodes
                    .values_mut()
                    .for_each(|inode| inode.bytes = inode.synced.clone());
            }
            let names = inner.names.clone();
            inner.synced_names = names;
            inner
                .inodes
                .values_mut()
                .for_each(|inode| inode.synced = inode.bytes.clone());
        }
        copy
    }

    pub fn calls(&self) -> usize {
        self.0.borrow().calls
    }

    pub fn is_dead(&self) -> bool {
        self.0.borrow().dead
    }

    pub fn set_free(&self, bytes: u64) {
        self.0.borrow_mut().free = bytes;
    }

    pub fn put(&self, path: &str, bytes: &[u8]) {
        let mut inner = self.0.borrow_mut();
        for folder in ancestors(path) {
            inner.names.insert(folder.to_owned(), Node::Folder);
        }
        let inode = inner.new_inode();
        inner.names.insert(path.to_owned(), Node::File(inode));
        inner.inodes.entry(inode).or_default().bytes = bytes.to_vec();
    }

    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let inner = self.0.borrow();
        match inner.names.get(path)? {
            Node::File(inode) => Some(inner.inodes[inode].bytes.clone()),
            Node::Folder => None,
        }
    }

    /// The files below a directory with their content.
    pub fn files_below(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let prefix = format!("{folder}/");
        let names: Vec<String> = self.0.borrow().names.keys().cloned().collect();
        let below = names
            .iter()
            .filter_map(|path| Some((path.strip_prefix(&prefix)?, path)));
        below
            .filter_map(|(short, path)| Some((short.to_owned(), self.bytes(path)?)))
            .collect()
    }

    fn step(&self) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        if inner.dead {
            return Err(io::Error::other("the process is dead"));
        }
        inner.calls += 1;
        match inner.fault {
            Some((call, fault)) if call == inner.calls => {
                inner.dead = fault == Fault::Dies;
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

impl Inner {
    fn new_inode(&mut self) -> u64 {
        self.next_inode += 1;
        self.inodes.insert(self.next_inode, Inode::default());
        self.next_inode
    }

    fn file(&mut self, path: &str) -> io::Result<u64> {
        match self.names.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            Some(Node::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => {
                if ancestors(path).any(|folder| self.names.get(folder) != Some(&Node::Folder)) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                let inode = self.new_inode();
                self.names.insert(path.to_owned(), Node::File(inode));
                Ok(inode)
            }
        }
    }
}

struct Reading {
    disk: Disk,
    bytes: io::Cursor<Vec<u8>>,
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.step()?;
        self.bytes.read(buffer)
    }
}

impl Seek for Reading {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

struct Writing {
    disk: Disk,
    inode: u64,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.disk.step();
        let mut inner = self.disk.0.borrow_mut();
        let torn = inner.dead && inner.fault.is_some_and(|(call, _)| call == inner.calls);
        if result.is_ok() || torn {
            let count = if torn { bytes.len() / 2 } else { bytes.len() };
            let inode = inner.inodes.get_mut(&self.inode).expect("open");
            inode.bytes.extend(&bytes[..count]);
        }
        result.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Target for Writing {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.step()?;
        let mut inner = self.disk.0.borrow_mut();
        let inode = inner.inodes.get_mut(&self.inode).expect("open");
        inode.synced.clone_from(&inode.bytes);
        Ok(())
    }
}

struct Held;

impl Lock for Held {}

impl Storage for Disk {
    fn kind(&self, path: &str) -> io::Result<Option<Kind>> {
        self.step()?;
        let inner = self.0.borrow();
        Ok(inner.names.get(path).map(|node| match node {
            Node::Folder => Kind::Folder,
            Node::File(inode) => Kind::File(inner.inodes[inode].bytes.len() as u64),
        }))
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        self.step()?;
        let prefix = format!("{path}/");
        let inner = self.0.borrow();
        let children = inner.names.keys().filter_map(|name| name.strip_prefix(&prefix));
        Ok(children
            .filter(|name| !name.contains('/'))
            .map(ToOwned::to_owned)
            .collect())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn Source>> {
        self.step()?;
        let bytes = self.bytes(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Reading {
            disk: self.clone(),
            bytes: io::Cursor::new(bytes),
        }))
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Target>> {
        self.step()?;
        let inode = self.0.borrow_mut().file(path)?;
        self.0.borrow_mut().inodes.entry(inode).or_default().bytes.clear();
        Ok(Box::new(Writing {
            disk: self.clone(),
            inode,
        }))
    }

    fn append(&self, path: &str) -> io::Result<Box<dyn Target>> {
        self.step()?;
        let inode = self.0.borrow_mut().file(path)?;
        Ok(Box::new(Writing {
            disk: self.clone(),
            inode,
        }))
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        self.step()?;
        let mut inner = self.0.borrow_mut();
        for folder in ancestors(path).chain([path]) {
            inner.names.insert(folder.to_owned(), Node::Folder);
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step()?;
        let mut inner = self.0.borrow_mut();
        let node = inner.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        inner.names.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        self.step()?;
        self.0.borrow_mut().names.remove(path);
        Ok(())
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.step()?;
        let mut inner = self.0.borrow_mut();
        let prefix = format!("{path}/");
        if inner.names.keys().any(|name| name.starts_with(&prefix)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        inner.names.remove(path);
        Ok(())
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        self.step()?;
        let mut inner = self.0.borrow_mut();
        if !path.is_empty() && inner.names.get(path) != Some(&Node::Folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let is_child = |name: &String| name.rsplit_once('/').map_or("", |(folder, _)| folder) == path;
        let children: Vec<(String, Node)> = inner
            .names
            .iter()
            .filter(|(name, _)| is_child(name))
            .map(|(name, node)| (name.clone(), *node))
            .collect();
        inner.synced_names.retain(|name, _| !is_child(name));
        inner.synced_names.extend(children);
        Ok(())
    }

    fn free_space(&self) -> io::Result<u64> {
        self.step()?;
        Ok(self.0.borrow().free)
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        Ok(Some(Box::new(Held)))
    }
}
