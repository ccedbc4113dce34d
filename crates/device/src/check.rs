//! The request to the server, and the interpretation of its response (`docs/reference/sdk.md#the-check`).

use std::io::{self, Read};

use launchway_domain::build_number::{BuildNumber, CurrentBuild};
use launchway_domain::configuration::Configuration;
use launchway_domain::percent;
use launchway_domain::version::Version;
use launchway_trust::client::AnnouncedVersions;
use launchway_trust::json::{self, Value};

pub use crate::offer::{Offer, Running};
use crate::ports::{Caches, Network, Request, Response};
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
    /// The versions of the metadata that the server has, if it says so.
    pub trust: Option<AnnouncedVersions>,
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
    #[error("not-newer: the server offers {} ({}), which is not newer than the running version", .0.version, .0.build_number)]
    NotNewer(Box<Offer>),
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
    caches: Caches,
) -> Result<CheckOutcome, CheckError> {
    let request = Request::get(url(settings, running, device_id), caches);
    let response = network.send(&request).map_err(CheckError::Network)?;
    if response.status != 200 {
        return Err(CheckError::Status {
            status: response.status,
            retry_after: retry_after(&response),
        });
    }
    let bytes = read_body(response, MAX_ANSWER).map_err(CheckError::Network)?;
    let answer = json::parse(&bytes, MAX_ANSWER).map_err(|_| CheckError::Malformed("it is not strict JSON"))?;
    parse_answer(&answer, settings, &running.update_id)
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

fn url(settings: &Settings, running: &Running, device_id: &str) -> String {
    let mut url = format!("{}/update/check/", settings.server_url.trim_end_matches('/'));
    url.extend(percent::encode(settings.bundle_id.as_str()));
    let own = [
        ("currentVersion", Some(&*running.version)),
        ("currentBuild", Some(&*running.build)),
        ("currentUpdateId", Some(&*running.update_id)),
        ("deviceId", Some(device_id)),
        ("platform", Some(settings.platform.as_str())),
        ("fingerprint", settings.fingerprint.as_deref()),
        (
            "configuration",
            settings.configuration.as_ref().map(Configuration::as_str),
        ),
    ];
    let mut separator = '?';
    for (name, value) in own {
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

fn parse_answer(answer: &Value, settings: &Settings, running_id: &str) -> Result<CheckOutcome, CheckError> {
    let flag = |name| answer.get(name).and_then(Value::as_bool);
    let text = |name| answer.get(name).and_then(Value::as_text).map(ToOwned::to_owned);
    let token = |update: String| text("reportToken").map(|token| (update, token));
    let trust = announced(answer);
    let available = flag("updateAvailable").ok_or(CheckError::Malformed("updateAvailable is missing"))?;
    if !available {
        return Ok(CheckOutcome {
            answer: Answer::Nothing {
                message: text("message").unwrap_or_default(),
            },
            token: token(running_id.to_owned()),
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
    Ok(CheckOutcome {
        token: token(offer.id.clone()),
        trust,
        answer: Answer::Update(Box::new(offer)),
    })
}

/// The server's versions of root and snapshot. Whatever it says there only decides whether metadata is fetched early.
fn announced(answer: &Value) -> Option<AnnouncedVersions> {
    let trust = answer.get("trust")?;
    let version = |name| trust.get(name).and_then(Value::as_count);
    Some(AnnouncedVersions {
        root: version("root")?,
        snapshot: version("snapshot")?,
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
    let (version, build_number) = (text("version")?, text("buildNumber")?);
    Version::parse(version).map_err(|_| CheckError::Malformed("version is not a version"))?;
    BuildNumber::parse(build_number).map_err(|_| CheckError::Malformed("buildNumber is not a number"))?;
    let url = text("url")?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(CheckError::Malformed("url is not an address"));
    }
    Ok(Offer {
        id: text("id")?.to_owned(),
        version: version.to_owned(),
        build_number: build_number.to_owned(),
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

/// Refuses an offer that is not newer than what runs: a higher version, or the same with a higher build number.
pub(crate) fn expect_newer(answer: &Answer, running: &Running) -> Result<(), CheckError> {
    match answer {
        Answer::Update(offer) if !is_newer(offer, running) => Err(CheckError::NotNewer(offer.clone())),
        _ => Ok(()),
    }
}

fn is_newer(offer: &Offer, running: &Running) -> bool {
    let (Ok(offered), Ok(build)) = (Version::parse(&offer.version), BuildNumber::parse(&offer.build_number)) else {
        return false;
    };
    let Ok(current) = Version::parse(&running.version) else {
        // The server has compared; a binary with a version of its own kind leaves it to the server.
        return true;
    };
    let newer_build = CurrentBuild::parse(&running.build).is_ok_and(|current| build.is_newer_than(&current));
    offered > current || (offered == current && newer_build)
}
