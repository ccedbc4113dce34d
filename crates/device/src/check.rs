//! The question to the server, and what its answer comes to (`docs/reference/sdk.md#the-check`).

use std::io::{self, Read};

use launchway_domain::build_number::{BuildNumber, CurrentBuild};
use launchway_domain::percent;
use launchway_domain::version::Version;
use launchway_trust::json::{self, Value};

pub use crate::offer::{Offer, Running};
use crate::ports::{Network, Request, Response};
use crate::settings::Settings;

/// The most bytes of an answer.
pub(crate) const MAX_ANSWER: usize = 256 << 10;
/// The most bytes of a package.
pub const MAX_PACKAGE: u64 = 512 << 20;

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an update.
    Update(Box<Offer>),
    /// There is an update that needs a new store binary.
    StoreUpdateRequired {
        /// Why.
        reason: String,
    },
    /// There is none.
    Nothing {
        /// The server's words.
        message: String,
    },
}

/// An answer, and what reports are authenticated with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOutcome {
    /// The answer.
    pub answer: Answer,
    /// The token, and the update that it is for.
    pub token: Option<(String, String)>,
    /// What the server says of its metadata, for the check of signatures.
    pub trust: Option<Value>,
}

/// Why a check has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The server cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Network(io::Error),
    /// The server refuses for now.
    #[error("the server responded with status {status}")]
    Status {
        /// Its status code.
        status: u16,
        /// For how many seconds it does not want to be asked.
        retry_after: Option<u64>,
    },
    /// The answer cannot be understood.
    #[error("the server's response is not valid: {0}")]
    Malformed(&'static str),
    /// The offer is not newer than what runs.
    #[error("the server offers {0}, which is not newer than the running version")]
    NotNewer(String),
}

/// Asks the server.
///
/// # Errors
/// There is no answer, or it is not one.
pub fn check(
    network: &dyn Network,
    settings: &Settings,
    running: &Running,
    device_id: &str,
    trust: &[(&'static str, String)],
) -> Result<CheckOutcome, CheckError> {
    let request = Request {
        url: url(settings, running, device_id, trust),
        headers: vec![
            ("accept", "application/json".to_owned()),
            ("accept-encoding", "identity".to_owned()),
        ],
        body: None,
    };
    let response = network.send(&request).map_err(CheckError::Network)?;
    if response.status != 200 {
        return Err(CheckError::Status {
            status: response.status,
            retry_after: retry_after(&response),
        });
    }
    let bytes = read_body(response, MAX_ANSWER).map_err(CheckError::Network)?;
    let answer = json::parse(&bytes, MAX_ANSWER).map_err(|_| CheckError::Malformed("it is not strict JSON"))?;
    parse_answer(&answer, settings, running)
}

/// The body, up to one byte more than allowed, so that a longer one is noticed.
pub(crate) fn read_body(response: Response, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    response.body.take(max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `Retry-After` in seconds, at most an hour.
pub(crate) fn retry_after(response: &Response) -> Option<u64> {
    response
        .header("retry-after")?
        .parse()
        .ok()
        .map(|seconds: u64| seconds.min(3600))
}

fn url(settings: &Settings, running: &Running, device_id: &str, trust: &[(&'static str, String)]) -> String {
    let mut url = format!("{}/update/check/", settings.server_url.trim_end_matches('/'));
    url.extend(percent::encode(&settings.bundle_id));
    let own = [
        ("currentVersion", Some(&*running.version)),
        ("currentBuild", Some(&*running.build)),
        ("currentUpdateId", Some(&*running.update_id)),
        ("deviceId", Some(device_id)),
        ("platform", Some(settings.platform.as_str())),
        ("fingerprint", settings.fingerprint.as_deref()),
        ("configuration", settings.configuration.as_deref()),
    ];
    let trust = trust.iter().map(|(name, value)| (*name, Some(&**value)));
    let mut separator = '?';
    for (name, value) in own.into_iter().chain(trust) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            url.push(separator);
            url.push_str(name);
            url.push('=');
            url.extend(percent::encode(value));
            separator = '&';
        }
    }
    url
}

fn parse_answer(answer: &Value, settings: &Settings, running: &Running) -> Result<CheckOutcome, CheckError> {
    let flag = |name| answer.get(name).and_then(Value::as_bool);
    let text = |name| answer.get(name).and_then(Value::as_text).map(ToOwned::to_owned);
    let token = |update: String| text("reportToken").map(|token| (update, token));
    let trust = answer.get("trust").cloned();
    let available = flag("updateAvailable").ok_or(CheckError::Malformed("updateAvailable is missing"))?;
    if !available {
        return Ok(CheckOutcome {
            answer: Answer::Nothing {
                message: text("message").unwrap_or_default(),
            },
            token: token(running.update_id.clone()),
            trust,
        });
    }
    if flag("requiresStoreUpdate").ok_or(CheckError::Malformed("requiresStoreUpdate is missing"))? {
        return Ok(CheckOutcome {
            answer: Answer::StoreUpdateRequired {
                reason: text("compatibilityReason").unwrap_or_default(),
            },
            token: text("id").and_then(token),
            trust,
        });
    }
    let offer = parse_offer(answer, settings)?;
    if !is_newer(&offer, running)? {
        return Err(CheckError::NotNewer(format!(
            "{} ({})",
            offer.version, offer.build_number
        )));
    }
    Ok(CheckOutcome {
        token: token(offer.id.clone()),
        trust,
        answer: Answer::Update(Box::new(offer)),
    })
}

fn parse_offer(answer: &Value, settings: &Settings) -> Result<Offer, CheckError> {
    let missing = |name| move || CheckError::Malformed(name);
    let text = |name| answer.get(name).and_then(Value::as_text).ok_or_else(missing(name));
    if text("platform")? != settings.platform.as_str() {
        return Err(CheckError::Malformed("platform differs"));
    }
    let size = answer
        .get("size")
        .and_then(Value::as_count)
        .filter(|size| (1..=MAX_PACKAGE).contains(size));
    let manifest = match answer.get("manifest") {
        None | Some(Value::Null) => None,
        Some(value) => Some(
            value
                .as_text()
                .and_then(|text| text.parse().ok())
                .ok_or_else(missing("manifest"))?,
        ),
    };
    let url = text("url")?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(CheckError::Malformed("url is not an address"));
    }
    Ok(Offer {
        id: text("id")?.to_owned(),
        version: text("version")?.to_owned(),
        build_number: text("buildNumber")?.to_owned(),
        url: url.to_owned(),
        sha256: text("sha256")?
            .parse()
            .map_err(|_| CheckError::Malformed("sha256 is not a digest"))?,
        size: size.ok_or_else(missing("size"))?,
        manifest,
        mandatory: answer.get("mandatory").and_then(Value::as_bool).unwrap_or(false),
        release_notes: text("releaseNotes").unwrap_or_default().to_owned(),
    })
}

/// Whether the offer is newer than what runs: a higher version, or the same with a higher build number.
fn is_newer(offer: &Offer, running: &Running) -> Result<bool, CheckError> {
    let offered = Version::parse(&offer.version).map_err(|_| CheckError::Malformed("version is not a version"))?;
    let build =
        BuildNumber::parse(&offer.build_number).map_err(|_| CheckError::Malformed("buildNumber is not a number"))?;
    let Ok(current) = Version::parse(&running.version) else {
        // The server has compared; a binary with a version of its own kind leaves it to the server.
        return Ok(true);
    };
    let newer_build = CurrentBuild::parse(&running.build).is_ok_and(|current| build.is_newer_than(&current));
    Ok(offered > current || (offered == current && newer_build))
}
