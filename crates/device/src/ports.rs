//! What the client needs from the platform it runs on.

use std::io::{self, Read, Seek, Write};

use launchway_delta::Digest;
use launchway_trust::json::Value;

use crate::offer::{Offer, Running};

/// Tells the time.
pub trait Clock {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
    /// Waits. Tests do not.
    fn pause(&self, milliseconds: u64);
}

/// Gives random bytes.
pub trait Random {
    /// Fills the array.
    fn bytes(&self) -> [u8; 16];
}

/// A file that is read.
pub trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}

/// A file that is written.
pub trait Target: Write {
    /// Returns when everything written is on disk.
    ///
    /// # Errors
    /// What the storage answers.
    fn sync(&mut self) -> io::Result<()>;
}

/// Held as long as this process alone may write.
pub trait Lock {}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// Anything else, such as a link.
    Other,
}

/// The folder of the client. Paths are relative, with slashes, and never climb; links are not followed.
pub trait Storage {
    /// What a path names. `None`: nothing.
    ///
    /// # Errors
    /// What the storage answers. All methods fail in this way.
    fn kind(&self, path: &str) -> io::Result<Option<Kind>>;
    /// The names in a folder; none when it is missing.
    ///
    /// # Errors
    /// The storage fails.
    fn list(&self, path: &str) -> io::Result<Vec<String>>;
    /// Opens a file to read it.
    ///
    /// # Errors
    /// The storage fails, or there is no such file.
    fn open(&self, path: &str) -> io::Result<Box<dyn Source>>;
    /// Creates a file and empties what was there.
    ///
    /// # Errors
    /// The storage fails.
    fn create(&self, path: &str) -> io::Result<Box<dyn Target>>;
    /// Opens a file to add to its end, and creates it if it is missing.
    ///
    /// # Errors
    /// The storage fails.
    fn append(&self, path: &str) -> io::Result<Box<dyn Target>>;
    /// Creates a folder, and its parents. One that exists is fine.
    ///
    /// # Errors
    /// The storage fails.
    fn make_folder(&self, path: &str) -> io::Result<()>;
    /// Renames a file and replaces what has the new name.
    ///
    /// # Errors
    /// The storage fails.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. A missing one is fine.
    ///
    /// # Errors
    /// The storage fails.
    fn remove_file(&self, path: &str) -> io::Result<()>;
    /// Removes an empty folder. A missing one is fine.
    ///
    /// # Errors
    /// The storage fails.
    fn remove_folder(&self, path: &str) -> io::Result<()>;
    /// Returns when the names in a folder are on disk.
    ///
    /// # Errors
    /// The storage fails.
    fn sync_folder(&self, path: &str) -> io::Result<()>;
    /// Bytes that can still be written.
    ///
    /// # Errors
    /// The storage fails.
    fn free_space(&self) -> io::Result<u64>;
    /// Takes the lock. `None`: another process has it.
    ///
    /// # Errors
    /// The storage fails.
    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>>;
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The whole address.
    pub url: String,
    /// Header fields, names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body of a POST; `None` is a GET.
    pub body: Option<String>,
}

/// An answer. Redirects are answers; the port does not follow them.
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// The body, read as it arrives.
    pub body: Box<dyn Read>,
}

impl Response {
    /// The value of a header field, whatever the case of its name. One that occurs twice has none.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.trim())
    }
}

/// Reaches servers.
pub trait Network {
    /// Sends a request and answers as soon as the headers are there. Silence ends with an error after a timeout of the
    /// port's own, also while the body is read.
    ///
    /// # Errors
    /// The server cannot be reached.
    fn send(&self, request: &Request) -> io::Result<Response>;
    /// Whether the connection costs nothing by the byte, such as Wi-Fi.
    fn is_unmetered(&self) -> bool;
}

/// Keeps a text for the next start. Its error ends what was under way.
pub type Keep<'k> = &'k mut dyn FnMut(String) -> io::Result<()>;

/// The check of signatures: what the app's own developers allow. It has a state of its own, which this client keeps for
/// it as a text.
pub trait Trust {
    /// Takes up what was kept last. Called before anything else, at each start and in each round.
    fn restore(&self, kept: Option<&str>);
    /// Parameters of the check beside the client's own.
    fn query(&self) -> Vec<(&'static str, String)>;
    /// Brings itself up to date after a check, whose answer's `trust` is `announced`. What it learns is kept step by
    /// step, so that a later lie of the server is noticed.
    ///
    /// # Errors
    /// Why it is not up to date: no update is installed now.
    fn refresh(&self, network: &dyn Network, announced: Option<&Value>, keep: Keep<'_>) -> Result<(), String>;
    /// Whether an offer may be installed in place of what runs.
    ///
    /// # Errors
    /// Why not, in words for the log and the report.
    fn permit(&self, offer: &Offer, running: &Running) -> Result<Permit, String>;
    /// Whether a package is revoked, whatever the network or the clock says.
    fn is_revoked(&self, package: &Digest) -> bool;
}

/// What an offer that may be installed has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permit {
    /// The digest that its file list must have, if that is known.
    pub manifest: Option<Digest>,
}

/// The trust of an app without an embedded root: it permits everything that the server offers.
pub struct ServerTrust;

impl Trust for ServerTrust {
    fn restore(&self, _: Option<&str>) {}

    fn query(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn refresh(&self, _: &dyn Network, _: Option<&Value>, _: Keep<'_>) -> Result<(), String> {
        Ok(())
    }

    fn permit(&self, offer: &Offer, _: &Running) -> Result<Permit, String> {
        Ok(Permit {
            manifest: offer.manifest,
        })
    }

    fn is_revoked(&self, _: &Digest) -> bool {
        false
    }
}
