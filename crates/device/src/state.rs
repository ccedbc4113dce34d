//! `state.json` and `boot.json`: what is remembered, and how it is written.

mod text;

use std::io;

use launchway_delta::Digest;
use launchway_trust::json;

use crate::boot::{Attempt, Binary, BootState, Content, SlotId};
use crate::files::{read, replace};
use crate::ports::Storage;

const STATE_FILE: &str = "state.json";
const BOOT_FILE: &str = "boot.json";
/// The most bytes of a state file. Nearly all of it is trusted metadata, which is 2 MiB at most, escaped.
const MAX_STATE: usize = 8 << 20;
/// The most bytes of a boot file.
const MAX_BOOT: usize = 64 << 10;
/// The most report tokens that are kept; the oldest leave first.
const MAX_TOKENS: usize = 16;

/// Everything that is remembered between starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The boot machine's part.
    pub boot: BootState,
    /// The installation's id, made at random at the first start.
    pub device_id: String,
    /// What the installed packages are, in the order of their installation.
    pub slots: Vec<SlotRecord>,
    /// Report tokens by the update they are for, oldest first.
    pub tokens: Vec<(String, String)>,
    /// What is remembered of signed updates; `None` until metadata was fetched.
    pub trust: Option<TrustRecord>,
    /// The last update that was rolled back or could not be installed on this binary.
    pub failed: Option<FailedUpdate>,
}

/// An update that was rolled back or could not be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedUpdate {
    /// The update's id.
    pub update_id: String,
    /// Its version.
    pub version: String,
    /// Its build number.
    pub build_number: String,
    /// The digest of its package.
    pub sha256: Digest,
    /// A reason of the boot machine such as `crashed`, or the message of an error.
    pub reason: String,
}

impl FailedUpdate {
    /// The failure of an installed package.
    #[must_use]
    pub fn of(slot: &SlotRecord, reason: &str) -> Self {
        Self {
            update_id: slot.update_id.clone(),
            version: slot.version.clone(),
            build_number: slot.build_number.clone(),
            sha256: slot.id,
            reason: reason.to_owned(),
        }
    }
}

/// What is remembered of signed updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRecord {
    /// When metadata was last up to date, in milliseconds since 1970.
    pub refreshed_at: u64,
    /// The bytes of trusted metadata and the floors of roles, as [`launchway_trust::client::StoredTrust`] writes them.
    pub stored: String,
}

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotRecord {
    /// The SHA-256 of its bytes, which names its folder.
    pub id: SlotId,
    /// The update that brought it.
    pub update_id: String,
    /// The update's version.
    pub version: String,
    /// The update's build number.
    pub build_number: String,
    /// The digest of its file list.
    pub manifest: Digest,
}

/// What is found of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// There is none yet.
    Nothing,
    /// There is one, and it cannot be understood.
    Corrupt,
    /// It is here.
    Whole(T),
}

impl State {
    /// The state of a phone on which the app has never run.
    #[must_use]
    pub fn new(binary: Binary, random: [u8; 16]) -> Self {
        Self {
            boot: BootState::new(binary),
            device_id: random.iter().map(|byte| format!("{byte:02x}")).collect(),
            slots: Vec::new(),
            tokens: Vec::new(),
            trust: None,
            failed: None,
        }
    }

    /// Reads the state.
    ///
    /// # Errors
    /// The storage fails.
    pub fn load(storage: &dyn Storage) -> io::Result<Found<Self>> {
        load(storage, STATE_FILE, MAX_STATE, text::parse_state)
    }

    /// Writes the state.
    ///
    /// # Errors
    /// The storage fails; the state before is still there.
    pub fn save(&self, storage: &dyn Storage) -> io::Result<()> {
        replace(storage, STATE_FILE, json::to_utf8(&text::state_value(self)).as_bytes())
    }

    /// Sets a corrupt state aside, so that the next start begins with an empty state.
    ///
    /// # Errors
    /// The storage fails.
    pub fn set_aside(storage: &dyn Storage) -> io::Result<()> {
        storage.rename(STATE_FILE, "state.json.corrupt")?;
        storage.sync_folder("")
    }

    /// The record of an installed package.
    #[must_use]
    pub fn slot(&self, id: SlotId) -> Option<&SlotRecord> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// Records an installed package in place of an earlier record of it.
    pub fn record(&mut self, record: SlotRecord) {
        self.slots.retain(|slot| slot.id != record.id);
        self.slots.push(record);
    }

    /// Keeps the newest token of an update.
    pub fn keep_token(&mut self, update_id: &str, token: &str) {
        self.tokens.retain(|(known, _)| known != update_id);
        if self.tokens.len() == MAX_TOKENS {
            self.tokens.remove(0);
        }
        self.tokens.push((update_id.to_owned(), token.to_owned()));
    }

    /// How content is named towards the server: an update's id, or `embedded:<build>`.
    #[must_use]
    pub fn update_id(&self, content: Content) -> String {
        let slot = match content {
            Content::Embedded => None,
            Content::Slot(id) => self.slot(id),
        };
        slot.map_or_else(
            || format!("embedded:{}", self.boot.binary.code),
            |slot| slot.update_id.clone(),
        )
    }
}

/// Reads the attempt that runs, or ran last.
///
/// # Errors
/// The storage fails.
pub fn load_attempt(storage: &dyn Storage) -> io::Result<Found<Attempt>> {
    load(storage, BOOT_FILE, MAX_BOOT, text::parse_attempt)
}

/// Writes the attempt.
///
/// # Errors
/// The storage fails; the attempt before is still there.
pub fn save_attempt(storage: &dyn Storage, attempt: &Attempt) -> io::Result<()> {
    replace(
        storage,
        BOOT_FILE,
        json::to_utf8(&text::attempt_value(attempt)).as_bytes(),
    )
}

fn load<T>(
    storage: &dyn Storage,
    path: &str,
    max: usize,
    read_text: fn(&json::Value) -> Option<T>,
) -> io::Result<Found<T>> {
    let bytes = match read(storage, path, max) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(Found::Corrupt),
        bytes => bytes?,
    };
    let Some(bytes) = bytes else {
        return Ok(Found::Nothing);
    };
    let value = json::parse(&bytes, max).ok();
    Ok(value.as_ref().and_then(read_text).map_or(Found::Corrupt, Found::Whole))
}
