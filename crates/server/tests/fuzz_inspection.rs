//! Corrupted apps, packages and credentials of every kind, for an inspection process: one process receives one after
//! the other, and is restarted when it dies. None should die: each death is reported with the number that reproduces
//! its input.
#![cfg(test)]

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_inspection::ENVIRONMENT;
use launchway_testing::mutator::Mutator;
use launchway_testing::settings::setting;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

#[path = "http/inspection/hostile.rs"]
#[expect(dead_code, reason = "some of it is for the tests over HTTP")]
mod hostile;

/// Far above the time for any input of this size, so that a busy machine does not matter.
const TOO_LONG: Duration = Duration::from_secs(120);
/// After this many deaths there is enough to investigate.
const MOST_DEATHS: usize = 20;
const NOW: i64 = 1_795_168_800_000;
/// Bytes that are significant as lengths, numbers, marks or tags, in any of the formats.
const MEANING: &[u8] = &[
    0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x0f, 0x10, 0x1c, 0x24, 0x30, 0x31, 0x5f, 0x7f, 0x80, 0x84, 0xa0, 0xd1, 0xff,
    b'<', b'P', b'"', b'{', b'&', b'/',
];

/// A batch of inspections in one process.
struct Batch {
    child: Child,
    input: ChildStdin,
    answers: Receiver<u8>,
}

impl Batch {
    fn start() -> Batch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launchway-server"));
        command.args(["__inspect", "\"batch\""]).env_clear().envs(ENVIRONMENT);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (told, answers) = channel();
        std::thread::spawn(move || {
            let mut answer = [0];
            while output.read_exact(&mut answer).is_ok() && told.send(answer[0]).is_ok() {}
        });
        Batch { child, input, answers }
    }

    /// Inspects one file in the process; returns whether it was accepted, or `None` if the process died or took too
    /// long.
    fn inspect(&mut self, task: &[u8], bytes: &[u8]) -> Option<bool> {
        let lengths = [task.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
        let sent = [&lengths, task, bytes].iter().try_for_each(|part| self.input.write_all(part));
        if sent.and_then(|()| self.input.flush()).is_err() {
            return None;
        }
        match self.answers.recv_timeout(TOO_LONG) {
            Ok(answer) => Some(answer == b'+'),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

/// Valid and invalid files to start with.
struct Corpus {
    /// Unmodified apps, and the files in them.
    apps: Vec<(Vec<u8>, Files)>,
    packages: Vec<Vec<u8>>,
    /// Kind and bytes.
    credentials: Vec<(&'static str, Vec<u8>)>,
}

fn files(folder: &str) -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn unpacked(bytes: &[u8]) -> Option<Files> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let count = archive.len();
    let one = |index| {
        let mut file = archive.by_index(index).ok()?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).ok()?;
        Some((file.name().ok()?.into_owned(), content))
    };
    (0..count).map(one).collect()
}

fn packed(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in files {
        if writer.start_file(name.as_str(), stored).is_ok() {
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

impl Corpus {
    fn new() -> Corpus {
        let apps = files("../binaries/tests/fixtures").into_iter().map(|(_, bytes)| bytes);
        let apps = apps
            .chain(hostile::apps().into_iter().map(|(_, _, bytes, _)| bytes).filter(|bytes| bytes.len() < 64 << 10));
        let apps = apps.filter_map(|bytes| Some((bytes.clone(), unpacked(&bytes).filter(|files| !files.is_empty())?)));
        let kind = |name: &str| match name.rsplit('.').next()? {
            "p12" | "jks" | "jceks" | "bks" | "keystore" => Some("android_keystore"),
            "p8" => Some("app_store_connect_key"),
            "json" if name != "expected.json" => Some("google_service_account"),
            "mobileprovision" | "provisionprofile" => Some("provisioning_profile"),
            "cer" | "pem" => Some("apple_certificate"),
            _ => None,
        };
        let credentials = files("../credentials/tests/fixtures").into_iter();
        let credentials = credentials.filter_map(|(name, bytes)| Some((kind(&name)?, bytes)));
        Corpus {
            apps: apps.collect(),
            packages: files("../package/tests/corpus").into_iter().map(|(_, bytes)| bytes).collect(),
            credentials: credentials.collect(),
        }
    }

    /// The task and the file of a run.
    fn input(&self, run: u64) -> (Value, Vec<u8>) {
        let mut by = Mutator::new(run, MEANING);
        match by.below(8) {
            0 | 1 => (json!("app"), self.app(&mut by)),
            2 => (json!("app"), made_app(&mut by)),
            3 => {
                let limits = json!({"max_files": 100, "max_unpacked": 1 << 20, "max_ratio": 200, "max_path": 512});
                let (one, other) = (by.below(self.packages.len()), by.below(self.packages.len()));
                let format = ["archive", "codepush", "hot-updater"][by.below(3)];
                (json!({"package": [limits, format]}), by.mutate(&self.packages[one], &self.packages[other]))
            }
            4 => {
                let list = made_xml(&mut by);
                credential("provisioning_profile", &hostile::signed(&list))
            }
            _ => {
                let (one, other) = (by.below(self.credentials.len()), by.below(self.credentials.len()));
                let (kind, bytes) = &self.credentials[one];
                let kind = if *kind == "android_keystore" && by.below(2) == 0 { "apple_certificate" } else { kind };
                credential(kind, &by.mutate(bytes, &self.credentials[other].1))
            }
        }
    }

    /// A corrupted app, or one with a corrupted file in it: changes of compressed data would nearly always fail at the
    /// checksum.
    fn app(&self, by: &mut Mutator) -> Vec<u8> {
        let (whole, files) = &self.apps[by.below(self.apps.len())];
        let (other_whole, other_files) = &self.apps[by.below(self.apps.len())];
        if by.below(3) == 0 {
            return by.mutate(whole, other_whole);
        }
        let mut files = files.clone();
        let at = by.below(files.len());
        let other = &other_files[by.below(other_files.len())].1;
        files[at].1 = by.mutate(&files[at].1, other);
        packed(&files)
    }
}

fn credential(kind: &str, bytes: &[u8]) -> (Value, Vec<u8>) {
    let given = json!({
        "content": BASE64_STANDARD.encode(bytes), "password": "store-secret", "keyId": "ABC123DEF4",
        "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
    });
    let task = json!({"credential": {"kind": kind, "bundle_id": null, "now": NOW}});
    (task, given.to_string().into_bytes())
}

/// An app around a generated property list, manifest or table.
fn made_app(by: &mut Mutator) -> Vec<u8> {
    let (name, content) = match by.below(4) {
        0 => ("Payload/A.app/Info.plist", made_xml(by)),
        1 => ("Payload/A.app/Info.plist", made_binary_list(by)),
        2 => ("base/manifest/AndroidManifest.xml", made_protobuf(by, 0)),
        _ => ("AndroidManifest.xml", made_chunks(by, 0)),
    };
    let mut files = vec![(name.to_owned(), content)];
    match by.below(3) {
        0 => files.push(("resources.arsc".to_owned(), made_chunks(by, 0))),
        1 => files.push(("Payload/A.app/embedded.mobileprovision".to_owned(), hostile::signed(&made_xml(by)))),
        _ => {}
    }
    packed(&files)
}

/// An XML property list, possibly nested too deep, possibly truncated.
fn made_xml(by: &mut Mutator) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "<dict>",
        "</dict>",
        "<array>",
        "</array>",
        "<x:array>",
        "</x:array>",
        "<x:dict>",
        "</x:dict>",
        "<dict/>",
        "<array/>",
        "<key>CFBundleIdentifier</key><string>com.example.app</string>",
        "<key>Entitlements</key>",
        "<key>k</key>",
        "<string>a</string>",
        "<data>AAAA</data>",
        "<date>2026-01-01T00:00:00Z</date>",
        "<integer>1</integer>",
        "<real>1e9</real>",
        "<true/>",
        "<![CDATA[x]]>",
        "&#0;",
        "&lt;",
        "<!-- -->",
        "<plist>",
    ];
    let mut list = String::from("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>");
    for _ in 0..by.below(60) {
        let word = WORDS[by.below(WORDS.len())];
        let times = if by.below(12) == 0 { by.below(3000) } else { 1 };
        list.push_str(&word.repeat(times));
    }
    if by.below(2) == 0 {
        list.push_str("</dict></plist>");
    }
    list.into_bytes()
}

/// Objects that contain each other at random, with a table and a trailer that may be wrong.
fn made_binary_list(by: &mut Mutator) -> Vec<u8> {
    let (count, mut bytes, mut places) = (1 + by.below(60), b"bplist00".to_vec(), Vec::new());
    for _ in 0..count {
        places.push(bytes.len() as u8);
        let length = by.below(6);
        bytes.push([0xd0, 0xa0, 0x50, 0x60, 0x10, 0x80, 0x40, 0xc0][by.below(8)] | length as u8);
        bytes.extend((0..2 * length).map(|_| by.below(count + 1) as u8));
    }
    let table = bytes.len() as u64;
    bytes.extend(&places);
    bytes.extend([0, 0, 0, 0, 0, 0, 1, 1]);
    for number in [count as u64, by.below(count) as u64, table] {
        bytes.extend(number.to_be_bytes());
    }
    if by.below(2) == 0 { by.mutate(&bytes, b"") } else { bytes }
}

fn made_protobuf(by: &mut Mutator, depth: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..by.below(5) {
        let field = 1 + by.below(8) as u8;
        if depth < 40 && by.below(4) > 0 {
            let inner = made_protobuf(by, depth + 1);
            bytes.extend([field << 3 | 2, inner.len() as u8 & 0x7f]);
            bytes.extend(inner);
        } else {
            bytes.extend([field << 3 | by.below(6) as u8, by.below(256) as u8]);
        }
        if bytes.len() > 4000 {
            break;
        }
    }
    bytes
}

/// Nested chunks in Android's format, with lengths that may be wrong.
fn made_chunks(by: &mut Mutator, depth: usize) -> Vec<u8> {
    const KINDS: [u16; 9] = [0x0002, 0x0003, 0x0001, 0x0102, 0x0103, 0x0180, 0x0200, 0x0201, 0x0202];
    let mut body: Vec<u8> = (0..by.below(40)).map(|_| MEANING[by.below(MEANING.len())]).collect();
    while depth < 6 && by.below(3) > 0 && body.len() < 20_000 {
        body.extend(made_chunks(by, depth + 1));
    }
    let kind = if depth == 0 { KINDS[by.below(2)] } else { KINDS[by.below(KINDS.len())] };
    let header = [8, 12, 28, 64][by.below(4)] as u16;
    let length = (body.len() + 8 + by.below(2)) as u32;
    [&kind.to_le_bytes()[..], &header.to_le_bytes(), &length.to_le_bytes(), &body].concat()
}

/// Inspects the files of these runs in a process; returns how many were accepted, and which runs killed it.
fn fuzz(runs: u64) -> (u64, Vec<u64>) {
    let corpus = Corpus::new();
    let (mut batch, mut read, mut deaths) = (Batch::start(), 0, Vec::new());
    for run in 0..runs {
        let (task, bytes) = corpus.input(run);
        match batch.inspect(task.to_string().as_bytes(), &bytes) {
            Some(was_read) => read += u64::from(was_read),
            None => {
                println!("run {run} ended the process: {} of {} bytes", task, bytes.len());
                deaths.push(run);
                batch = Batch::start();
            }
        }
        if deaths.len() == MOST_DEATHS {
            break;
        }
    }
    (read, deaths)
}

#[test]
fn a_thousand_broken_files_end_no_process() {
    let (read, deaths) = fuzz(1_000);
    assert!(deaths.is_empty(), "{deaths:?}");
    assert!((10..1_000).contains(&read), "{read} were read");
}

/// `FUZZ_RUNS` sets the number of runs. A run depends only on its number.
#[test]
#[ignore = "long run"]
fn a_million_broken_files_end_no_process() {
    let runs = setting("FUZZ_RUNS").map_or(1_000_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    let (read, deaths) = fuzz(runs);
    println!(
        "summary: {runs} broken apps, packages and credentials, {read} were read, {} ended a process",
        deaths.len()
    );
    assert!(deaths.is_empty(), "{deaths:?}");
}
