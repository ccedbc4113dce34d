//! A phone: the client on an in-memory disk, with a server that offers packages and fails in chosen ways.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use launchway_delta::Digest;
use launchway_device::boot::{Binary, Ending};
use launchway_device::ports::{Clock, Network, Random, Request, Response, Storage};
use launchway_device::settings::Settings;
use launchway_device::{Device, Launch, Ports};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::metadata::MetadataFiles;

/// Held while a process is started, and by tests that release a file lock: until it executes another program, a new
/// process shares the open files, and with them the locks, of its parent.
static FORKS: Mutex<()> = Mutex::new(());

pub fn no_forks() -> MutexGuard<'static, ()> {
    FORKS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> u64 {
        1_795_255_200_000
    }

    fn pause(&self, _: u64) {}
}

pub struct NoRandom;

impl Random for NoRandom {
    fn bytes(&self) -> [u8; 16] {
        [7; 16]
    }
}

/// The files of a version, some large enough for several reads.
pub fn files(version: u32) -> BTreeMap<String, Vec<u8>> {
    let line = format!("console.log('version {version}');\n");
    BTreeMap::from([
        (
            "index.html".to_owned(),
            format!("<script src=js/app.js></script> {version}").into_bytes(),
        ),
        ("js/app.js".to_owned(), line.repeat(300).into_bytes()),
        ("img/a/logo.svg".to_owned(), b"<svg/>".to_vec()),
    ])
}

/// A package of these files.
pub fn package(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), &bytes[..])).collect();
    zip_of(&files)
}

/// A package of these paths and contents, short ones stored and long ones deflated.
pub fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        let method = if bytes.len() > 100 {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::DEFAULT);
        zip.start_file(*path, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The package of a version, created once: tests request it thousands of times.
fn package_of(version: u32) -> Vec<u8> {
    static PACKAGES: Mutex<BTreeMap<u32, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut packages = PACKAGES.lock().unwrap();
    packages
        .entry(version)
        .or_insert_with(|| package(&files(version)))
        .clone()
}

/// An update on the server.
#[derive(Clone)]
pub struct Update {
    pub id: String,
    pub version: String,
    pub build: u32,
    pub bytes: Vec<u8>,
}

impl Update {
    /// The good update with this number.
    pub fn number(number: u32) -> Self {
        Self {
            id: format!("update_{number}"),
            version: "1.0.0".to_owned(),
            build: 100 + number,
            bytes: package_of(number),
        }
    }

    pub fn sha256(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

/// How the next downloads fail, one after the other.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The connection breaks after this many bytes of the body.
    Breaks(usize),
    /// The server responds with this status.
    Status(u16),
    /// The server ignores the range.
    Whole,
    /// The range starts at another byte than requested.
    Shifted,
    /// Bytes are changed.
    Garbled,
    /// The body never ends.
    Endless,
    /// The body is compressed.
    Encoded,
    /// The server has no ETag.
    NoEtag,
}

/// An in-memory server.
#[derive(Default)]
pub struct Server {
    pub offer: RefCell<Option<Update>>,
    pub away: Cell<bool>,
    /// A complete response to the next checks.
    pub says: RefCell<Option<String>>,
    pub troubles: RefCell<Vec<Trouble>>,
    pub requests: RefCell<Vec<Request>>,
    /// The received reports, as `type update`.
    pub reports: RefCell<Vec<String>>,
    /// The status of responses to reports.
    pub report_status: Cell<u16>,
    pub metered: Cell<bool>,
    /// The metadata of an app with a root.
    pub metadata: RefCell<Option<MetadataFiles>>,
}

impl Server {
    pub fn offering(update: Update) -> Self {
        let server = Self::default();
        server.offer(update);
        server
    }

    pub fn offer(&self, update: Update) {
        *self.offer.borrow_mut() = Some(update);
    }

    /// The requests for packages.
    pub fn downloads(&self) -> Vec<Request> {
        let requests = self.requests.borrow();
        requests
            .iter()
            .filter(|request| request.url.contains("/package"))
            .cloned()
            .collect()
    }

    fn check(&self, url: &str) -> String {
        if let Some(says) = &*self.says.borrow() {
            return says.clone();
        }
        let build = url
            .split("currentBuild=")
            .nth(1)
            .and_then(|rest| rest.split('&').next()?.parse().ok());
        let build: u32 = build.expect("a build number");
        let mut says = match &*self.offer.borrow() {
            Some(update) if update.build > build => answer(update),
            _ => json!({"updateAvailable": false, "message": "No update available", "reportToken": "token"}),
        };
        if let Some(metadata) = &*self.metadata.borrow() {
            says["trust"] = metadata.announced();
        }
        says.to_string()
    }

    fn report(&self, body: &str) -> u16 {
        let status = self.report_status.get();
        if status != 0 {
            return status;
        }
        let body: Value = serde_json::from_str(body).unwrap();
        for event in body["events"].as_array().unwrap() {
            let (kind, update) = (event["type"].as_str().unwrap(), event["updateId"].as_str().unwrap());
            let reason = event["reason"]
                .as_str()
                .map(|reason| format!(" {reason}"))
                .unwrap_or_default();
            self.reports.borrow_mut().push(format!("{kind} {update}{reason}"));
        }
        200
    }

    fn package(&self, request: &Request) -> io::Result<Response> {
        let bytes = self.offer.borrow().as_ref().expect("an offer").bytes.clone();
        let trouble = if self.troubles.borrow().is_empty() {
            None
        } else {
            Some(self.troubles.borrow_mut().remove(0))
        };
        let header = |name: &str| {
            request
                .headers
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.clone())
        };
        let etag = format!("\"{}\"", Digest::of(&bytes));
        let asked = header("range").filter(|_| header("if-range").as_deref() == Some(&etag));
        let mut from = asked.map_or(0, |range| range[6..range.len() - 1].parse().unwrap());
        let mut headers = vec![("ETag".to_owned(), etag)];
        let mut body: Box<dyn Read> = Box::new(Cursor::new(bytes.clone()).take(u64::MAX));
        match &trouble {
            Some(Trouble::Status(status)) => return Ok(answered(*status, headers, Box::new(io::empty()))),
            Some(Trouble::Whole) => from = 0,
            Some(Trouble::NoEtag) => headers.clear(),
            Some(Trouble::Encoded) => headers.push(("Content-Encoding".to_owned(), "gzip".to_owned())),
            _ => {}
        }
        if from > 0 || matches!(trouble, Some(Trouble::Shifted)) {
            if from >= bytes.len() {
                return Ok(answered(416, headers, Box::new(io::empty())));
            }
            let start = if matches!(trouble, Some(Trouble::Shifted)) {
                from + 1
            } else {
                from
            };
            headers.push((
                "Content-Range".to_owned(),
                format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len()),
            ));
            body = Box::new(Cursor::new(bytes[start..].to_vec()));
        }
        body = match trouble {
            Some(Trouble::Breaks(count)) => Box::new(body.take(count as u64).chain(Broken)),
            Some(Trouble::Endless) => Box::new(body.chain(io::repeat(0))),
            Some(Trouble::Garbled) => {
                let mut garbled = bytes[from..].to_vec();
                garbled.iter_mut().for_each(|byte| *byte ^= 1);
                Box::new(Cursor::new(garbled))
            }
            _ => body,
        };
        let ranged = headers.iter().any(|(name, _)| name == "Content-Range");
        Ok(answered(if ranged { 206 } else { 200 }, headers, body))
    }
}

/// The check's response that offers an update.
pub fn answer(update: &Update) -> Value {
    json!({
        "updateAvailable": true, "requiresStoreUpdate": false, "compatibilityReason": null, "platform": "android",
        "version": update.version, "buildNumber": update.build.to_string(), "releaseNotes": "",
        "url": "https://storage/package?signature=1", "expiresAt": "2026-11-22T12:00:00.000Z", "id": update.id,
        "sha256": update.sha256().to_string(), "size": update.bytes.len(), "mandatory": false, "reportToken": "token",
    })
}

fn answered(status: u16, headers: Vec<(String, String)>, body: Box<dyn Read>) -> Response {
    Response { status, headers, body }
}

/// A connection that was reset.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

impl Network for Server {
    fn send(&self, request: &Request) -> io::Result<Response> {
        self.requests.borrow_mut().push(request.clone());
        if self.away.get() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let text = |status, text: String| Ok(answered(status, Vec::new(), Box::new(Cursor::new(text))));
        if request.url.contains("/update/check/") {
            text(200, self.check(&request.url))
        } else if request.url.contains("/update/report/") {
            text(self.report(request.body.as_deref().unwrap()), "{}".to_owned())
        } else if let Some((_, file)) = request.url.split_once("/tuf/com.example.app/") {
            let (status, body) = match &*self.metadata.borrow() {
                Some(metadata) => metadata.respond(file),
                None => (404, Box::new(io::empty()) as Box<dyn Read>),
            };
            Ok(answered(status, Vec::new(), body))
        } else {
            self.package(request)
        }
    }

    fn is_unmetered(&self) -> bool {
        !self.metered.get()
    }
}

pub fn settings() -> Settings {
    Settings {
        server_url: "https://host/api".to_owned(),
        bundle_id: BundleId::parse("com.example.app").unwrap(),
        platform: Platform::Android,
        version: "1.0.0".to_owned(),
        fingerprint: None,
        configuration: Some(Configuration::parse("production").unwrap()),
        trust: None,
        entry_file: "index.html".to_owned(),
        keep_slots: 2,
        wifi_only: false,
    }
}

/// Runs a process of the app on this disk and server.
pub fn process<T>(storage: &dyn Storage, server: &Server, run: impl FnOnce(&Device<'_>) -> T) -> T {
    process_of(&settings(), &StoppedClock, storage, server, run)
}

/// Runs a process of this app at this time.
pub fn process_of<T>(
    settings: &Settings,
    clock: &dyn Clock,
    storage: &dyn Storage,
    network: &dyn Network,
    run: impl FnOnce(&Device<'_>) -> T,
) -> T {
    let ports = Ports {
        storage,
        network,
        clock,
        random: &NoRandom,
    };
    run(&Device::open(ports, settings).unwrap())
}

pub fn launch(ending: Ending) -> Launch {
    Launch {
        binary: Binary {
            code: "1".to_owned(),
            name: "1.0.0".to_owned(),
            installed_at: 1,
        },
        window: true,
        ending,
    }
}
