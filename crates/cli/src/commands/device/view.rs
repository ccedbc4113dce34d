//! What the commands print about a phone.

use std::path::Path;

use launchway_device::boot::Content;
use launchway_device::check::Answer;
use launchway_device::{StartOutcome, Status, SyncOutcome, slot};
use serde::Serialize;

use crate::printer::fields::fields;

/// A phone after a command.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhoneView {
    /// What the command did, in words.
    outcome: String,
    /// The update that the server offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<OfferView>,
    /// The update id of what runs, or `embedded:<build>`.
    runs: String,
    /// The directory with the files that run; null for the embedded app.
    folder: Option<String>,
    /// Whether what runs still has to be confirmed.
    trial: bool,
    last_good: String,
    /// What the next start tries.
    next: Option<String>,
    /// The packages that never run again, as SHA-256.
    quarantine: Vec<String>,
    /// How many reports are pending.
    reports: usize,
    device_id: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OfferView {
    id: String,
    version: String,
    build_number: String,
    size: u64,
    sha256: String,
}

impl PhoneView {
    pub fn started(&mut self, started: &StartOutcome) {
        self.outcome = match &started.problem {
            Some(problem) => format!("started the embedded app: {problem}"),
            None => "started".to_owned(),
        };
    }

    pub fn answered(&mut self, answer: &Answer) {
        self.outcome = match answer {
            Answer::Update(_) => "an update is available".to_owned(),
            Answer::StoreUpdateRequired { reason } => format!("a build from the store is required: {reason}"),
            Answer::Nothing { message } => message.clone(),
        };
        if let Answer::Update(offer) = answer {
            self.offer = Some(OfferView {
                id: offer.id.clone(),
                version: offer.version.clone(),
                build_number: offer.build_number.clone(),
                size: offer.size,
                sha256: offer.sha256.to_string(),
            });
        }
    }

    pub fn synced(&mut self, outcome: &SyncOutcome) {
        self.outcome = match outcome {
            SyncOutcome::Nothing => "no update".to_owned(),
            SyncOutcome::StoreUpdateRequired(reason) => format!("a build from the store is required: {reason}"),
            SyncOutcome::Staged(offer) => format!("installed {}", offer.id),
            SyncOutcome::Downloaded(offer) => format!("downloaded {}", offer.id),
            SyncOutcome::SameBytes(offer) => format!("the files of {} are already running", offer.id),
            SyncOutcome::Quarantined(offer) => format!("{} failed before and is in quarantine", offer.id),
            SyncOutcome::WaitsForWifi(offer) => format!("{} waits for an unmetered connection", offer.id),
        };
    }

    pub fn confirmed(&mut self, confirmed: bool) {
        self.outcome = if confirmed { "confirmed" } else { "nothing to confirm" }.to_owned();
    }

    pub fn reported(&mut self, count: usize) {
        self.outcome = match count {
            1 => "sent 1 report".to_owned(),
            _ => format!("sent {count} reports"),
        };
    }

    /// Adds what is installed. `client` is the directory of the client.
    pub fn add(&mut self, status: &Status, client: &Path) {
        let boot = &status.state.boot;
        let name = |content| status.state.update_id(content);
        let running = status.attempt.as_ref().map_or(boot.current, |attempt| attempt.content);
        self.runs = name(running);
        if let Content::Slot(id) = running {
            self.folder = Some(client.join(slot::content(id)).display().to_string());
        }
        self.trial = boot.trial;
        self.last_good = name(boot.last_good);
        self.next = boot.next.map(|id| name(Content::Slot(id)));
        self.quarantine = boot.quarantine.iter().map(ToString::to_string).collect();
        self.reports = status.reports;
        self.device_id = status.state.device_id.clone();
    }

    /// The lines for people.
    pub fn prose(&self) -> String {
        let yes = |value: bool| if value { "yes" } else { "" }.to_owned();
        let offer = self.offer.as_ref().map_or_else(String::new, |offer| {
            format!("{} ({}), {}", offer.version, offer.build_number, offer.id)
        });
        fields(&[
            ("Outcome", self.outcome.clone()),
            ("Offer", offer),
            ("Runs", self.runs.clone()),
            ("Files", self.folder.clone().unwrap_or_default()),
            ("On trial", yes(self.trial)),
            ("Last good", self.last_good.clone()),
            ("Next", self.next.clone().unwrap_or_default()),
            ("Quarantine", self.quarantine.join("\n")),
            ("Reports", self.reports.to_string()),
            ("Device", self.device_id.clone()),
        ])
    }
}
