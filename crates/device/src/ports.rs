//! What the client needs from the platform it runs on.

use std::io::{self, Read, Seek, Write};

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

/// Whether a cache on the way to the server may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caches {
    /// It may.
    Used,
    /// It has to ask the server.
    Bypassed,
}

impl Request {
    /// A request for JSON.
    #[must_use]
    pub fn get(url: String, caches: Caches) -> Self {
        let mut headers = vec![
            ("accept", "application/json".to_owned()),
            ("accept-encoding", "identity".to_owned()),
        ];
        if caches == Caches::Bypassed {
            headers.push(("cache-control", "no-cache".to_owned()));
        }
        Self {
            url,
            headers,
            body: None,
        }
    }
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

/// The platform that a client runs on.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// The client's own folder.
    pub storage: &'a dyn Storage,
    /// The way to servers.
    pub network: &'a dyn Network,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Randomness.
    pub random: &'a dyn Random,
}
