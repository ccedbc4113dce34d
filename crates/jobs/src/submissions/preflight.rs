//! Checks before any call to an app store: compares what the app states about itself with the request, and with earlier
//! submissions.

use launchway_app_stores::AppStoreError;
use launchway_binaries::{BinaryFacts, Format};
use launchway_blob::Key;
use launchway_credentials::ProfileType;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::CredentialKind;
use launchway_domain::submission::destination::KnownDestination;
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode as Code};
use launchway_domain::submission::preflight::{
    Binary, BinaryFormat, Entitlements, Expectations, Extension, Profile, ProfileKind, findings, highest,
};
use launchway_domain::submission::{FileKind, Store, Submission, SubmissionFile};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::binaries::{self, ReadError};
use launchway_store::{Paging, SubmittedBinary};

/// More than the maximum number of credentials of an organization.
const ALL: Paging = Paging { limit: 1000, offset: 0 };

/// Checks the app of a submission. The inner error is recorded in the submission.
pub async fn check(
    app: &App,
    submission: &Submission,
    files: &[SubmissionFile],
) -> Result<Result<(), AppStoreError>, ApiError> {
    let unreadable = |text: &str| {
        let error = SubmissionError::new(Code::BinaryUnreadable, text);
        Ok(Err(AppStoreError::Final { error }))
    };
    let Some(file) = files.iter().find(|file| file.kind == FileKind::App) else {
        return unreadable("The app file of this submission was deleted");
    };
    let key = Key::new(&file.blob_key)?;
    let facts = match binaries::read(app, submission.org_id, &key, &file.file_name, file.size, &file.sha256).await {
        Ok(Some(Ok(facts))) => facts,
        Ok(Some(Err(refusal))) => return unreadable(&format!("Cannot read the app: {refusal}")),
        Ok(None) => return unreadable("Cannot read the app"),
        Err(ReadError::Different) => return unreadable("The app file changed after it was submitted"),
        Err(ReadError::Missing) => return unreadable("The app file is no longer in the object storage"),
        Err(ReadError::Failed(failure)) => return Err(failure),
    };
    let bundle: Result<BundleId, _> = submission.bundle_id.parse();
    let bundle = bundle.map_err(|error| ApiError::Internal(format!("a bundle id: {error}")))?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(submission.org_id);
    let before = org
        .submitted_binaries(&bundle, submission.platform, submission.id)
        .await?;
    let credentials = org.credentials(ALL).await?.items;
    drop(tx);
    let (live_version, live_build_number) = known(submission, &before);
    let mut keystores = credentials
        .iter()
        .filter(|one| one.is(CredentialKind::AndroidKeystore) && one.bundle_id.as_ref() == Some(&bundle));
    // Among several keystores, the upload key is ambiguous.
    let upload_key = match (keystores.next(), keystores.next()) {
        (Some(only), None) => Some(only.fingerprint.as_str()),
        _ => None,
    };
    let asked = Expectations {
        bundle_id: &bundle,
        platform: submission.platform,
        destination: &submission.destination,
        version: submission.version.as_deref(),
        build_number: submission.build_number.as_deref(),
        live_version,
        live_build_number,
        upload_key,
        target_sdk_floor: app.config.target_sdk_floor,
        apple_sdk_floor: app.config.apple_sdk_floor,
        now: app.clock.now(),
    };
    Ok(verdict(findings(&binary(&facts, file), &asked), submission))
}

/// Combines all findings into one error: the code and the fix of the first, and the problems of all.
fn verdict(found: Vec<SubmissionError>, submission: &Submission) -> Result<(), AppStoreError> {
    let messages: Vec<&str> = found.iter().map(|error| error.message.as_str()).collect();
    let message = messages.join(" ");
    if let Some(first) = found.into_iter().next() {
        return Err(AppStoreError::Final {
            error: SubmissionError { message, ..first },
        });
    }
    let needs_version = submission.store() == Store::AppStore;
    if submission.build_number.is_none() || (needs_version && submission.version.is_none()) {
        return Err(AppStoreError::new(
            Code::VersionMalformed,
            "The app has no version or build number, which the store requires",
        ));
    }
    Ok(())
}

/// The highest released version, and the highest uploaded build number, in the App Store that of the same version.
/// `None` for a binary that was submitted before: it may move from one destination to the next.
fn known<'b>(submission: &Submission, before: &'b [SubmittedBinary]) -> (Option<&'b str>, Option<&'b str>) {
    if before.iter().any(|one| one.sha256 == submission.sha256) {
        return (None, None);
    }
    let is_apple = submission.store() == Store::AppStore;
    let released = before
        .iter()
        .filter(|one| one.is_there && one.destination == KnownDestination::AppStore.as_str());
    let same_train = before
        .iter()
        .filter(|one| !is_apple || one.version == submission.version);
    (
        highest(released.filter_map(|one| one.version.as_deref())),
        highest(same_train.filter_map(|one| one.build_number.as_deref())),
    )
}

/// Converts the facts of a binary into the form of the rules.
fn binary(facts: &BinaryFacts, file: &SubmissionFile) -> Binary {
    // An app that was read without warnings states whether it is signed; otherwise that is unknown.
    let signer = match (&facts.signer, facts.format) {
        (Some(signer), _) => Some(Some(signer.sha256.clone())),
        (None, _) if facts.warnings.is_empty() => Some(None),
        (None, _) => None,
    };
    Binary {
        format: match facts.format {
            Format::Apk => BinaryFormat::Apk,
            Format::Aab => BinaryFormat::Aab,
            Format::Ipa => BinaryFormat::Ipa,
        },
        size: u64::try_from(file.size).unwrap_or_default(),
        bundle_id: facts.bundle_id.clone(),
        version: facts.version.clone(),
        build_number: facts.build_number.clone(),
        platforms: facts.platforms.clone(),
        simulator: facts.simulator,
        debuggable: facts.debuggable,
        target_sdk: facts.target_sdk,
        architectures: facts.architectures.clone(),
        signer,
        signer_not_after: facts.signer.as_ref().map(|signer| signer.not_after),
        signer_subject: facts.signer.as_ref().map(|signer| signer.subject.clone()),
        profile: facts.profile.as_ref().map(profile),
        entitlements: facts.entitlements.as_ref().map(entitlements),
        simulator_code: facts.simulator_code.clone(),
        extensions: facts.extensions.iter().map(extension).collect(),
        sdk: facts.sdk.clone(),
        icon: facts.icon,
        system_classes: facts.system_classes.clone(),
        info_keys: (facts.format == Format::Ipa).then(|| facts.purpose_strings.clone()),
    }
}

fn profile(found: &launchway_binaries::Profile) -> Profile {
    Profile {
        kind: match found.profile_type {
            ProfileType::AppStore => ProfileKind::AppStore,
            _ => ProfileKind::Other,
        },
        expires_at: found.expires_at,
        bundle_id_pattern: found.bundle_id_pattern.clone(),
    }
}

fn entitlements(found: &launchway_binaries::Entitlements) -> Entitlements {
    Entitlements {
        application_id: found.application_id.clone(),
        debuggable: found.debuggable,
        not_granted: found.not_granted.clone(),
    }
}

fn extension(found: &launchway_binaries::Extension) -> Extension {
    Extension {
        path: found.path.clone(),
        bundle_id: found.bundle_id.clone(),
        architectures: found.architectures.clone(),
        signed: found.signed,
        profile: found.profile.as_ref().map(profile),
        entitlements: found.entitlements.as_ref().map(entitlements),
    }
}
