//! Installed packages (`docs/reference/sdk.md#slots`): `slots/<sha256>/` with the files in `app/`, their list in
//! `files.json`, and `.complete`, written last, with the list's digest.

use std::collections::BTreeSet;
use std::io;

use launchway_delta::archive::{Archive, ArchiveError};
use launchway_delta::file_list::{MAX_CANONICAL, MAX_FILES};
use launchway_delta::{Digest, FileList, ListedFile, PackageError};

use crate::boot::{SlotId, Soundness};
use crate::files::{hash_files, join, parent, read, remove_tree, replace};
use crate::ports::{Kind, Source, Storage};

/// Extensions of code that an update must not bring.
const NATIVE_CODE: [&str; 5] = ["so", "dex", "jar", "dylib", "framework"];
/// What stays free for everything else on the phone.
const SPARE_BYTES: u64 = 8 << 20;

/// Why a package cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The package is at fault.
    #[error(transparent)]
    Package(ArchiveError),
    /// It brings code for the processor, which stores do not allow over the air.
    #[error("the file `{0}` is native code, which updates must not contain")]
    NativeCode(String),
    /// The file that the app starts with is not in it.
    #[error("the package does not contain `{0}`, with which the app starts")]
    NoEntryFile(String),
    /// It holds something that its file list does not name, or the other way round.
    #[error("the package and its file list differ at `{0}`")]
    Unlisted(String),
    /// Its files are not those that were promised.
    #[error("the files of the package differ from the published files")]
    WrongFiles,
    /// There is too little room.
    #[error("installing needs {needed} bytes, and {free} are free")]
    NoSpace {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The storage failed, which is nobody's fault.
    #[error("the storage failed: {0}")]
    Storage(io::Error),
}

impl From<io::Error> for InstallError {
    fn from(error: io::Error) -> Self {
        Self::Storage(error)
    }
}

impl From<PackageError> for InstallError {
    fn from(error: PackageError) -> Self {
        match error {
            PackageError::Unreadable(error) | PackageError::Target(error) => Self::Storage(error),
            error => Self::Package(error.into()),
        }
    }
}

/// What a package has to hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected<'a> {
    /// The digest of its file list, where that is known.
    pub manifest: Option<Digest>,
    /// The list itself, where that is known. Nothing else is written then.
    pub list: Option<&'a FileList>,
    /// The file that the app starts with.
    pub entry_file: &'a str,
}

/// The folder of a slot.
#[must_use]
pub fn folder(slot: SlotId) -> String {
    format!("slots/{slot}")
}

/// The folder with a slot's files.
#[must_use]
pub fn content(slot: SlotId) -> String {
    format!("slots/{slot}/app")
}

fn mark(slot: SlotId) -> String {
    format!("slots/{slot}/.complete")
}

fn list_file(slot: SlotId) -> String {
    format!("slots/{slot}/files.json")
}

/// Unpacks a package into a fresh slot. Until `.complete` is there the slot is nothing.
///
/// # Errors
/// The package is refused, or the storage fails. What was written is removed at the next try.
pub fn install(
    storage: &dyn Storage,
    package: Box<dyn Source>,
    slot: SlotId,
    expected: &Expected<'_>,
) -> Result<FileList, InstallError> {
    let mut archive = Archive::open(package)?;
    check_entries(&archive, expected)?;
    check_space(storage, &archive)?;
    remove_slot(storage, &folder(slot))?;
    let mut folders = BTreeSet::from([folder(slot), content(slot)]);
    storage.make_folder(&content(slot))?;
    let mut files = Vec::new();
    for index in 0..archive.entries().len() {
        if let Some(file) = unpack(storage, &mut archive, index, &content(slot), &mut folders)? {
            if expected.list.is_some_and(|list| list.find(&file.path) != Some(&file)) {
                return Err(InstallError::Unlisted(file.path));
            }
            files.push(file);
        }
    }
    let list = FileList::new(files).map_err(|error| InstallError::Package(error.into()))?;
    let manifest = list.manifest();
    if expected.manifest.is_some_and(|expected| expected != manifest) {
        return Err(InstallError::WrongFiles);
    }
    folders
        .iter()
        .rev()
        .try_for_each(|folder| storage.sync_folder(folder))?;
    storage.sync_folder("slots")?;
    replace(storage, &list_file(slot), &list.canonical())?;
    replace(storage, &mark(slot), manifest.to_string().as_bytes())?;
    Ok(list)
}

/// Removes a slot. Its mark goes first: without it the rest is nothing, however far the removal gets.
///
/// # Errors
/// The storage fails.
pub(crate) fn remove_slot(storage: &dyn Storage, folder: &str) -> io::Result<()> {
    if storage.kind(&join(folder, ".complete"))?.is_some() {
        storage.remove_file(&join(folder, ".complete"))?;
        storage.sync_folder(folder)?;
    }
    remove_tree(storage, folder)
}

/// Checks what can be known before anything is written.
fn check_entries(archive: &Archive<Box<dyn Source>>, expected: &Expected<'_>) -> Result<(), InstallError> {
    let files = || archive.entries().iter().filter(|entry| !entry.is_folder());
    for entry in archive.entries() {
        let path = entry.path();
        // A framework is a folder; any part of a path counts.
        if path.split('/').any(is_native_code) {
            return Err(InstallError::NativeCode(path.to_owned()));
        }
        if let Some(list) = expected.list.filter(|_| !entry.is_folder()) {
            let listed = list.find(path).is_some_and(|file| file.size == entry.size());
            if !listed {
                return Err(InstallError::Unlisted(path.to_owned()));
            }
        }
    }
    if let Some(list) = expected.list.filter(|list| list.files().len() != files().count()) {
        let found: BTreeSet<&str> = files().map(|entry| entry.path()).collect();
        let missing = list.files().iter().find(|file| !found.contains(file.path.as_str()));
        return Err(InstallError::Unlisted(
            missing.map_or_else(String::new, |file| file.path.clone()),
        ));
    }
    if files().any(|entry| entry.path() == expected.entry_file) {
        Ok(())
    } else {
        Err(InstallError::NoEntryFile(expected.entry_file.to_owned()))
    }
}

/// Whether a name is one of native code, also of a versioned library such as `libc.so.6`.
fn is_native_code(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    NATIVE_CODE.contains(&extension) || name.contains(".so.")
}

fn check_space(storage: &dyn Storage, archive: &Archive<Box<dyn Source>>) -> Result<(), InstallError> {
    let files: u64 = archive.entries().iter().map(|entry| entry.size() + 4096).sum();
    let (needed, free) = (files + SPARE_BYTES, storage.free_space()?);
    if free < needed {
        return Err(InstallError::NoSpace { needed, free });
    }
    Ok(())
}

/// Writes one entry, if it is a file.
fn unpack(
    storage: &dyn Storage,
    archive: &mut Archive<Box<dyn Source>>,
    index: usize,
    content: &str,
    folders: &mut BTreeSet<String>,
) -> Result<Option<ListedFile>, InstallError> {
    let entry = &archive.entries()[index];
    if entry.is_folder() {
        // Folders come with their files; the header is checked all the same.
        archive.unpack(index, &mut io::sink())?;
        return Ok(None);
    }
    let (path, size) = (entry.path().to_owned(), entry.size());
    let whole = join(content, &path);
    let mut folder = parent(&whole);
    if !folders.contains(folder) {
        storage.make_folder(folder)?;
        while folders.insert(folder.to_owned()) {
            folder = parent(folder);
        }
    }
    // Path rules let no two entries meet; a file that is there all the same comes from a file system with other rules.
    if storage.kind(&whole)?.is_some() {
        return Err(InstallError::Unlisted(path));
    }
    let mut target = storage.create(&whole)?;
    let sha256 = archive.unpack(index, &mut target)?;
    target.sync()?;
    Ok(Some(ListedFile { path, size, sha256 }))
}

/// Whether a slot can be handed over. Its hashes are computed only the first time.
///
/// # Errors
/// The storage fails, so that nobody knows.
pub fn soundness(storage: &dyn Storage, slot: SlotId, entry_file: &str, first: bool) -> io::Result<Soundness> {
    let mark = match read(storage, &mark(slot), 64) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        mark => mark?,
    };
    let manifest = mark
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.parse::<Digest>().ok());
    let Some(manifest) = manifest else {
        return Ok(Soundness::Incomplete);
    };
    if !matches!(storage.kind(&join(&content(slot), entry_file))?, Some(Kind::File(_))) {
        return Ok(Soundness::NoEntryFile);
    }
    let sound = !first || is_intact(storage, slot, manifest)?;
    Ok(if sound { Soundness::Sound } else { Soundness::Damaged })
}

/// Whether the files of a slot are exactly those of its list, and the list is the one of `manifest`.
fn is_intact(storage: &dyn Storage, slot: SlotId, manifest: Digest) -> io::Result<bool> {
    let found = match hash_files(storage, &content(slot), MAX_FILES) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(false),
        found => FileList::new(found?),
    };
    let bytes = match read(storage, &list_file(slot), MAX_CANONICAL) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        bytes => bytes?,
    };
    Ok(found.is_ok_and(|list| list.manifest() == manifest && bytes.is_some_and(|bytes| bytes == list.canonical())))
}
