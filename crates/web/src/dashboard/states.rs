//! How pages show states: a word, a shape and a color, so that none of them is needed alone.

use askama::Template;
use launchway_api::open::Open;
use launchway_domain::build::{BuildStatus, RunnerStatus};
use launchway_domain::credential::CredentialStatus;
use launchway_domain::key::KeyStatus;
use launchway_domain::org::InvitationStatus;
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::update::UpdateStatus;
use launchway_domain::webhook::{DeliveryStatus, WebhookStatus};
use launchway_domain::words::Word;

use super::show::icon;

#[derive(Template)]
#[template(
    source = r#"<span class="status {{ colour }}">{{ icon|safe }}{{ word }}</span>"#,
    ext = "html"
)]
struct Status<'a> {
    colour: &'static str,
    icon: &'static str,
    word: &'a str,
}

/// Color, shape and word.
pub type Look = (&'static str, &'static str, &'static str);

/// A state that pages show.
pub trait State: Word {
    /// How it looks.
    fn look(self) -> Look;
}

/// The state of a resource as HTML. An unknown state is shown as it is.
pub fn status<T: State>(state: &Open<T>) -> String {
    match state {
        Open::Known(known) => badge(known.look()),
        Open::Unknown(other) => badge(("calm", "waiting", other)),
    }
}

/// A color, a shape and a word as HTML.
pub fn badge((colour, shape, word): (&'static str, &str, &str)) -> String {
    let icon = icon(shape);
    Status { colour, icon, word }.render().unwrap_or_default()
}

const fn good(word: &'static str) -> Look {
    ("good", "check", word)
}

const fn busy(word: &'static str) -> Look {
    ("busy", "running", word)
}

const fn held(word: &'static str) -> Look {
    ("warn", "pause", word)
}

const fn bad(word: &'static str) -> Look {
    ("bad", "cross", word)
}

const fn waiting(word: &'static str) -> Look {
    ("calm", "waiting", word)
}

const fn ended(word: &'static str) -> Look {
    ("calm", "dash", word)
}

impl State for BuildStatus {
    fn look(self) -> Look {
        match self {
            BuildStatus::Queued => waiting("Queued"),
            BuildStatus::Running => busy("Running"),
            BuildStatus::Success => good("Success"),
            BuildStatus::Failed => bad("Failed"),
            BuildStatus::Canceled => ended("Canceled"),
        }
    }
}

impl State for SubmissionStatus {
    fn look(self) -> Look {
        match self {
            SubmissionStatus::Queued => waiting("Queued"),
            SubmissionStatus::Validating => busy("Validating"),
            SubmissionStatus::Uploading => busy("Uploading"),
            SubmissionStatus::Processing => busy("Processing"),
            SubmissionStatus::InReview => busy("In review"),
            SubmissionStatus::RollingOut => busy("Rolling out"),
            SubmissionStatus::Halted => held("Halted"),
            SubmissionStatus::Success => good("Success"),
            SubmissionStatus::Rejected => bad("Rejected"),
            SubmissionStatus::Failed => bad("Failed"),
            SubmissionStatus::Canceled => ended("Canceled"),
        }
    }
}

impl State for UpdateStatus {
    fn look(self) -> Look {
        match self {
            UpdateStatus::Published => good("Published"),
            UpdateStatus::Paused => held("Paused"),
            UpdateStatus::Withdrawn => ended("Withdrawn"),
            UpdateStatus::AwaitingSignature => waiting("Awaiting signature"),
        }
    }
}

impl State for KeyStatus {
    fn look(self) -> Look {
        match self {
            KeyStatus::Active => good("Active"),
            KeyStatus::Revoked => ended("Revoked"),
            KeyStatus::Expired => bad("Expired"),
        }
    }
}

impl State for CredentialStatus {
    fn look(self) -> Look {
        match self {
            CredentialStatus::Active => good("Active"),
            CredentialStatus::Expired => bad("Expired"),
        }
    }
}

impl State for InvitationStatus {
    fn look(self) -> Look {
        match self {
            InvitationStatus::Pending => waiting("Pending"),
            InvitationStatus::Accepted => good("Accepted"),
            InvitationStatus::Expired => bad("Expired"),
        }
    }
}

impl State for RunnerStatus {
    fn look(self) -> Look {
        match self {
            RunnerStatus::Online => good("Online"),
            RunnerStatus::Offline => ended("Offline"),
            RunnerStatus::Revoked => ended("Revoked"),
        }
    }
}

impl State for WebhookStatus {
    fn look(self) -> Look {
        match self {
            WebhookStatus::Active => good("Active"),
            WebhookStatus::Disabled => bad("Disabled"),
        }
    }
}

impl State for DeliveryStatus {
    fn look(self) -> Look {
        match self {
            DeliveryStatus::Pending => waiting("Pending"),
            DeliveryStatus::Succeeded => good("Delivered"),
            DeliveryStatus::Failed => bad("Failed"),
            DeliveryStatus::Canceled => ended("Canceled"),
        }
    }
}
