//! Signed updates: the app's developers with their keys, and the files of metadata on the server.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

use launchway_delta::FileList;
use launchway_device::ports::Clock;
use launchway_device::settings::{EmbeddedTrust, Settings};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_trust::Sha256;
use launchway_trust::one_trip::{MAX_ROOTS_OF_ANSWER, TrustAnswer};
use serde_json::{Value, json};

use crate::phone::{Server, StoppedClock, Update, settings};
use crate::repository::{Repository, production};

/// How the server fails when it is asked for metadata.
#[derive(Clone, Copy, Debug)]
pub enum MetadataTrouble {
    /// It knows files, but not everything in one response.
    FilesOnly,
    /// It responds with this status.
    Status(u16),
    /// It sends something else.
    Garbage,
    /// The response never ends.
    Endless,
}

/// The files of metadata on the server, by name.
#[derive(Clone, Debug, Default)]
pub struct MetadataFiles {
    pub files: BTreeMap<String, String>,
    pub trouble: Option<MetadataTrouble>,
}

impl MetadataFiles {
    fn signed(&self, name: &str) -> Value {
        serde_json::from_str::<Value>(&self.files[name]).unwrap()["signed"].take()
    }

    fn newest_root(&self) -> u64 {
        let versions = self.files.keys().filter_map(|name| name.strip_suffix(".root.json"));
        versions.map(|version| version.parse().unwrap()).max().unwrap()
    }

    fn snapshot(&self) -> u64 {
        self.signed("timestamp.json")["meta"]["snapshot.json"]["version"]
            .as_u64()
            .unwrap()
    }

    /// `trust` of the check's response.
    pub fn announced(&self) -> Value {
        json!({"root": self.newest_root(), "snapshot": self.snapshot()})
    }

    /// The response to a request below `/tuf/com.example.app/`.
    pub fn respond(&self, file: &str) -> (u16, Box<dyn Read>) {
        let text = match self.trouble {
            Some(MetadataTrouble::Status(status)) => return (status, Box::new(io::empty())),
            Some(MetadataTrouble::Garbage) => Some("<!doctype html>".to_owned()),
            Some(MetadataTrouble::Endless) => return (200, Box::new(io::repeat(b' '))),
            Some(MetadataTrouble::FilesOnly) => self.files.get(file).cloned(),
            None => match file.strip_prefix("trust?") {
                Some(query) => Some(self.one_trip(query).to_json()),
                None => self.files.get(file).cloned(),
            },
        };
        match text {
            Some(text) => (200, Box::new(Cursor::new(text))),
            None => (404, Box::new(io::empty())),
        }
    }

    fn one_trip(&self, query: &str) -> TrustAnswer {
        let asked: BTreeMap<&str, &str> = query.split('&').filter_map(|part| part.split_once('=')).collect();
        let text = |name: String| self.files.get(&name).cloned();
        let root: u64 = asked["root"].parse().unwrap();
        let roots = (root + 1..).map_while(|version| text(format!("{version}.root.json")));
        let mut answer = TrustAnswer {
            roots: roots.take(MAX_ROOTS_OF_ANSWER).collect(),
            timestamp: text("timestamp.json".to_owned()),
            ..TrustAnswer::default()
        };
        let version = self.snapshot();
        if version > asked["snapshot"].parse().unwrap() {
            answer.snapshot = text(format!("{version}.snapshot.json"));
            let listed = self.signed(&format!("{version}.snapshot.json"))["meta"].take();
            let file = |role: &str| text(format!("{}.{role}.json", listed[format!("{role}.json")]["version"]));
            answer.targets = file("targets");
            let role = format!("c-{}", asked["configuration"]);
            answer.delegated.extend(file(&role).map(|text| (role, text)));
        }
        answer
    }
}

/// The developers of an app that carries a root.
pub struct Developers {
    pub repository: Repository,
}

impl Developers {
    /// They have signed the updates with these numbers.
    pub fn with_updates(numbers: &[u32]) -> Self {
        let mut developers = Self {
            repository: Repository::new(),
        };
        numbers
            .iter()
            .for_each(|number| developers.sign(&Update::number(*number)));
        developers
    }

    pub fn sign(&mut self, update: &Update) {
        let list = FileList::of_archive(Cursor::new(&update.bytes)).unwrap();
        self.sign_with(update, Sha256::from_bytes(list.manifest().0));
    }

    /// Signs an update in place of all before, as a role that is pruned does in the end.
    pub fn sign_only(&mut self, update: &Update) {
        if let Some(role) = self.repository.roles.get_mut(&production()) {
            role.targets.clear();
        }
        self.sign(update);
    }

    /// Signs an update with this digest of its file list.
    pub fn sign_with(&mut self, update: &Update, manifest: Sha256) {
        let version = Version::parse(&update.version).unwrap();
        let build = BuildNumber::from_value(update.build.into()).unwrap();
        let signed = launchway_trust::Update::new(version, build, None, manifest);
        self.repository
            .publish_update(&production(), Platform::Android, &signed, &update.bytes);
        self.repository.publish();
    }

    pub fn revoke(&mut self, number: u32) {
        let role = self.repository.roles.get_mut(&production()).unwrap();
        role.revoke(Sha256::of(&Update::number(number).bytes)).unwrap();
        self.repository.sign_role(&production());
        self.repository.publish();
    }

    /// Puts the present metadata on the server.
    pub fn upload(&self, server: &Server) {
        server.metadata.replace(Some(MetadataFiles {
            files: self.repository.files.clone(),
            trouble: None,
        }));
    }

    /// The app, which was built today.
    pub fn app(&self) -> Settings {
        Settings {
            trust: Some(EmbeddedTrust {
                file: self.repository.trust_file(),
                built_at: StoppedClock.now(),
            }),
            ..settings()
        }
    }
}
