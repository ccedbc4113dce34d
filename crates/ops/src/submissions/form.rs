//! Validates a request for a submission, before anything else.

use std::collections::BTreeSet;

use launchway_api::open::Open;
use launchway_api::submissions::{ChangeSubmission, CreateSubmission, ReleaseNote, SubmissionOptions, SymbolFile};
use launchway_domain::id::{ArtifactId, BuildId, CredentialId, UploadId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::RolloutState;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::destination::KnownDestination;
use launchway_domain::submission::locale;
use launchway_domain::submission::record::{Change, FileKind, Note, Options, Spec};

use crate::api_error::ApiError;

const MAX_NOTES: usize = 100;
const MAX_LOCALE: usize = 20;
/// The maximum number of characters of Google Play's release notes.
const MAX_PLAY_NOTE: usize = 500;
/// The maximum number of characters of App Store Connect's.
const MAX_APPLE_NOTE: usize = 4000;
const MAX_GROUPS: usize = 50;
const MAX_GROUP: usize = 100;
const MAX_COUNTRIES: usize = 300;
const MAX_RELEASE_NAME: usize = 50;

/// A validated request for a submission.
#[derive(Clone, Debug)]
pub struct NewSubmission {
    /// Where the app comes from.
    pub source: Source,
    /// The destination. Whether it fits the app's platform can be checked only once that is known.
    pub destination: String,
    /// The rollout in percent of the users.
    pub rollout: u8,
    /// Notes and options.
    pub spec: Spec,
    /// Files that symbolicate crash reports.
    pub symbols: Vec<Symbol>,
    /// The credential, if one is named. A malformed id becomes `None`: it names nothing.
    pub credential: Option<Option<CredentialId>>,
}

/// Where the app comes from. A malformed id becomes `None`: it names nothing.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A build.
    Build(Option<BuildId>),
    /// An upload.
    Upload(Option<UploadId>),
}

/// A file that symbolicates crash reports.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// Its kind.
    pub kind: FileKind,
    /// Where it comes from.
    pub source: SymbolSource,
}

/// Where a symbol file comes from.
#[derive(Clone, Copy, Debug)]
pub enum SymbolSource {
    /// An artifact of the same build.
    Artifact(Option<ArtifactId>),
    /// An upload.
    Upload(Option<UploadId>),
}

/// Validates a request for a submission.
pub fn check(request: CreateSubmission) -> Result<NewSubmission, ApiError> {
    let source = match (&request.build_id, &request.upload_id) {
        (Some(build), None) => Source::Build(build.parse().ok()),
        (None, Some(upload)) => Source::Upload(upload.parse().ok()),
        _ => return Err(ApiError::bad("Specify either buildId or uploadId")),
    };
    let destination = request.destination.to_string();
    let apple = Destination::parse(Platform::Ios, &destination);
    let read = apple.or_else(|_| Destination::parse(Platform::Android, &destination));
    let read = read.map_err(|_| {
        ApiError::bad("destination must be testflight or app_store, or the name of a track of Google Play")
    })?;
    if request.rollout.is_some() && read == Destination::TestFlight {
        return Err(ApiError::bad(
            "rollout does not apply to testflight, whose groups get the whole build",
        ));
    }
    let rollout = percent(request.rollout)?.unwrap_or(100);
    let (options, symbols) = options(request.options.unwrap_or_default(), &read, rollout)?;
    let of_build = matches!(source, Source::Build(_));
    Ok(NewSubmission {
        source,
        destination,
        rollout,
        spec: Spec {
            notes: notes(request.release_notes.unwrap_or_default(), &read)?,
            options,
        },
        symbols: symbols
            .into_iter()
            .enumerate()
            .map(|(at, file)| symbol(at, &file, of_build))
            .collect::<Result<_, _>>()?,
        credential: request.credential_id.map(|id| id.parse().ok()),
    })
}

/// Validates a request to change one.
pub fn change(request: &ChangeSubmission) -> Result<Change, ApiError> {
    let change = Change {
        rollout: percent(request.rollout)?,
        halted: match &request.status {
            None => None,
            Some(Open::Known(RolloutState::Halted)) => Some(true),
            Some(Open::Known(RolloutState::RollingOut)) => Some(false),
            Some(Open::Unknown(_)) => return Err(ApiError::bad("status must be halted or rolling_out")),
        },
    };
    match change {
        Change {
            rollout: None,
            halted: None,
        } => Err(ApiError::bad("Specify rollout or status")),
        Change {
            rollout: Some(100),
            halted: Some(true),
        } => Err(ApiError::bad("rollout must be below 100 with status halted")),
        change => Ok(change),
    }
}

fn percent(rollout: Option<i64>) -> Result<Option<u8>, ApiError> {
    let whole = |percent: i64| u8::try_from(percent).ok().filter(|percent| (1..=100).contains(percent));
    rollout
        .map(|percent| whole(percent).ok_or_else(|| ApiError::bad("rollout must be a whole percent from 1 to 100")))
        .transpose()
}

fn notes(notes: Vec<ReleaseNote>, destination: &Destination) -> Result<Vec<Note>, ApiError> {
    if notes.len() > MAX_NOTES {
        return Err(ApiError::bad(format!(
            "releaseNotes must have at most {MAX_NOTES} languages"
        )));
    }
    let most = match destination {
        Destination::Track(_) => MAX_PLAY_NOTE,
        _ => MAX_APPLE_NOTE,
    };
    let mut known = BTreeSet::new();
    for (at, note) in notes.iter().enumerate() {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if note.locale.is_empty() || note.locale.len() > MAX_LOCALE || !note.locale.chars().all(plain) {
            return Err(ApiError::bad(format!(
                "releaseNotes[{at}].locale must be a language such as en-US"
            )));
        }
        if let Err(unknown) = locale::check(destination.store(), &note.locale) {
            return Err(ApiError::bad(format!("releaseNotes[{at}].locale: {unknown}")));
        }
        if !known.insert(note.locale.as_str()) {
            return Err(ApiError::bad(format!(
                "releaseNotes[{at}].locale: {} is given twice",
                note.locale
            )));
        }
        let length = note.text.chars().count();
        if length == 0 || length > most || note.text.contains('\0') {
            return Err(ApiError::bad(format!(
                "releaseNotes[{at}].text must have 1 to {most} characters"
            )));
        }
    }
    let read = |note: ReleaseNote| Note {
        locale: note.locale,
        text: note.text,
    };
    Ok(notes.into_iter().map(read).collect())
}

fn options(
    options: SubmissionOptions,
    destination: &Destination,
    rollout: u8,
) -> Result<(Options, Vec<SymbolFile>), ApiError> {
    options_fit(&options, destination)?;
    let named = |text: &str, most: usize| {
        !text.trim().is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control)
    };
    let groups = options.groups.as_deref().unwrap_or_default();
    if groups.len() > MAX_GROUPS || !groups.iter().all(|group| named(group, MAX_GROUP)) {
        return Err(ApiError::bad(format!(
            "options.groups must be at most {MAX_GROUPS} names of 1 to {MAX_GROUP} characters"
        )));
    }
    let priority = options
        .priority
        .map(|priority| u8::try_from(priority).ok().filter(|priority| *priority <= 5));
    if priority == Some(None) {
        return Err(ApiError::bad("options.priority must be a whole number from 0 to 5"));
    }
    if let Some(countries) = &options.countries {
        check_countries(countries, destination, rollout)?;
    }
    let release_name = options.release_name.as_deref();
    if release_name.is_some_and(|name| !named(name, MAX_RELEASE_NAME)) {
        return Err(ApiError::bad(format!(
            "options.releaseName must have 1 to {MAX_RELEASE_NAME} characters, on one line"
        )));
    }
    let symbols = options.symbols.unwrap_or_default();
    if symbols.len() > 2 {
        return Err(ApiError::bad(
            "options.symbols must be at most two files: one mapping, one native",
        ));
    }
    let options = Options {
        groups: options.groups,
        uses_non_exempt_encryption: options.uses_non_exempt_encryption,
        manual_release: options.manual_release,
        draft: options.draft,
        priority: priority.flatten(),
        countries: options.countries,
        release_name: options.release_name,
        changes_not_sent_for_review: options.changes_not_sent_for_review,
    };
    Ok((options, symbols))
}

/// Rejects an option of another destination.
fn options_fit(options: &SubmissionOptions, destination: &Destination) -> Result<(), ApiError> {
    let is_play = matches!(destination, Destination::Track(_));
    let is_test_flight = *destination == Destination::TestFlight;
    let is_app_store = *destination == Destination::AppStore;
    let encryption = options.uses_non_exempt_encryption.is_some();
    let unreviewed = options.changes_not_sent_for_review.is_some();
    for (name, is_given, fits, wanted) in [
        ("groups", options.groups.is_some(), is_test_flight, "testflight"),
        ("usesNonExemptEncryption", encryption, !is_play, "the App Store"),
        (
            "manualRelease",
            options.manual_release.is_some(),
            is_app_store,
            "app_store",
        ),
        ("draft", options.draft.is_some(), is_play, "Google Play"),
        ("priority", options.priority.is_some(), is_play, "Google Play"),
        ("countries", options.countries.is_some(), is_play, "Google Play"),
        ("releaseName", options.release_name.is_some(), is_play, "Google Play"),
        ("changesNotSentForReview", unreviewed, is_play, "Google Play"),
        ("symbols", options.symbols.is_some(), is_play, "Google Play"),
    ] {
        if is_given && !fits {
            return Err(ApiError::bad(format!("options.{name} is only for {wanted}")));
        }
    }
    Ok(())
}

fn check_countries(countries: &[String], destination: &Destination, rollout: u8) -> Result<(), ApiError> {
    let capital = |country: &String| country.len() == 2 && country.bytes().all(|letter| letter.is_ascii_uppercase());
    if countries.is_empty() || countries.len() > MAX_COUNTRIES || !countries.iter().all(capital) {
        return Err(ApiError::bad(
            "options.countries must be country codes such as [\"DE\", \"FR\"]",
        ));
    }
    if !destination.is(KnownDestination::Production) || rollout == 100 {
        return Err(ApiError::bad(
            "options.countries is only for production with a rollout below 100",
        ));
    }
    Ok(())
}

fn symbol(at: usize, file: &SymbolFile, of_build: bool) -> Result<Symbol, ApiError> {
    let kind = file.kind.checked();
    let kind = kind.map_err(|_| ApiError::bad(format!("options.symbols[{at}].kind must be mapping or native")))?;
    let source = match (&file.artifact_id, &file.upload_id) {
        (Some(artifact), None) if of_build => SymbolSource::Artifact(artifact.parse().ok()),
        (Some(_), None) => {
            return Err(ApiError::bad(format!(
                "options.symbols[{at}].artifactId is only for a submission with buildId"
            )));
        }
        (None, Some(upload)) => SymbolSource::Upload(upload.parse().ok()),
        _ => {
            return Err(ApiError::bad(format!(
                "options.symbols[{at}] must have either artifactId or uploadId"
            )));
        }
    };
    Ok(Symbol {
        kind: kind.into(),
        source,
    })
}
