//! The work of an inspection process: reads the file and answers.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};

use launchway_api::secret::SecretText;
use launchway_binaries::BinaryFacts;
use launchway_credentials::{CredentialInput, Details, Facts, Kind};
use launchway_delta::FileList;
use launchway_delta::file_list::FileListBuilder;
use launchway_domain::org::normalize_name;
use launchway_domain::platform::Platform;
use launchway_domain::release::Format;
use launchway_package::{Entry, Limits, PackageError, inspect_into};
use serde_json::Value;
use zeroize::Zeroizing;

use super::content_id::{ReleaseError, content_id};
use super::credential_form::{OpenedCredential, decode};
use super::expo_export::{self, ReadError};
use super::{Answer, CredentialFacts, CredentialTask, ExportFacts, FilesFacts, PackageFacts, Task, package_files};

/// The maximum size in bytes of a credential as JSON: the file in base64, passwords and names.
const MAX_CREDENTIAL: u64 = 16 << 20;

/// Standard input as a file descriptor of its own.
pub(super) fn standard_input() -> Result<OwnedFd, String> {
    io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| error.to_string())
}

/// The answer to a task about a file, as JSON.
pub(super) fn answer(task: &Task, input: File) -> Vec<u8> {
    let json = match task {
        Task::App => serde_json::to_vec(&app(input)),
        Task::Package(limits, format) => serde_json::to_vec(&package(&input, limits, *format)),
        Task::Files(limits) => serde_json::to_vec(&files(&input, limits)),
        Task::Export(limits, platform) => serde_json::to_vec(&export(&input, limits, *platform)),
        Task::Credential(task) => serde_json::to_vec(&credential(task, input)),
        Task::Batch | Task::Trial(_) => return Vec::new(),
    };
    json.unwrap_or_default()
}

fn app(mut file: File) -> Answer<BinaryFacts> {
    let read = file
        .seek(SeekFrom::Start(0))
        .map_err(launchway_binaries::BinaryError::from)
        .and_then(|_| launchway_binaries::read(file));
    match read {
        Ok(facts) => Answer::Read(facts),
        Err(launchway_binaries::BinaryError::Unreadable(error)) => Answer::Unreadable(error.to_string()),
        Err(refusal) => Answer::Refused(refusal.to_string()),
    }
}

fn package(file: &File, limits: &Limits, format: Format) -> Answer<PackageFacts> {
    let (facts, list) = match inspected(file, limits) {
        Ok(inspected) => inspected,
        Err(failure) => return failed(failure),
    };
    match content_id(file, limits, format, list.as_ref()) {
        Ok(content_id) => Answer::Read(PackageFacts { content_id, ..facts }),
        Err(ReleaseError::Refused(sentence)) => Answer::Refused(sentence.to_owned()),
        Err(ReleaseError::Unreadable(problem)) => Answer::Unreadable(problem),
    }
}

fn files(file: &File, limits: &Limits) -> Answer<FilesFacts> {
    let (package, list) = match inspected(file, limits) {
        Ok(inspected) => inspected,
        Err(failure) => return failed(failure),
    };
    match package_files::read(file, limits, list.as_ref()) {
        Ok(files) => Answer::Read(FilesFacts { package, files }),
        Err(failure) => failed(failure),
    }
}

fn export(file: &File, limits: &Limits, platform: Platform) -> Answer<ExportFacts> {
    let (package, list) = match inspected(file, limits) {
        Ok(inspected) => inspected,
        Err(failure) => return failed(failure),
    };
    match expo_export::read(file, limits, platform, list.as_ref()) {
        Ok(export) => Answer::Read(ExportFacts { package, export }),
        Err(ReadError::Refused(sentence)) => Answer::Refused(sentence),
        Err(ReadError::Unreadable(problem)) => Answer::Unreadable(problem),
    }
}

/// The facts of every package, and its list of files, if it is not too large for one.
fn inspected(file: &File, limits: &Limits) -> Result<(PackageFacts, Option<FileList>), PackageError> {
    let mut list = FileListBuilder::default();
    let end_file = |list: &mut FileListBuilder, entry: &Entry| {
        if !entry.is_folder() {
            list.end_file(entry.path());
        }
    };
    let inspected = inspect_into(file, limits, &mut list, end_file)?;
    let list = list.finish().ok();
    let facts = PackageFacts {
        file_count: inspected.file_count,
        // Every package of a server with larger limits is accepted, also one that is too large for a list.
        manifest: list.as_ref().map(|list| list.manifest().to_string()),
        content_id: None,
    };
    Ok((facts, list))
}

fn failed<T>(failure: PackageError) -> Answer<T> {
    match failure {
        PackageError::Unreadable(error) => Answer::Unreadable(error.to_string()),
        refusal => Answer::Refused(refusal.to_string()),
    }
}

fn credential(task: &CredentialTask, input: File) -> Answer<CredentialFacts> {
    let unreadable = |problem: &str| Answer::Unreadable(problem.to_owned());
    let mut json = Zeroizing::new(Vec::new());
    if input.take(MAX_CREDENTIAL).read_to_end(&mut json).is_err() {
        return unreadable("the credential did not come");
    }
    let (Ok(kind), Ok(given)) = (
        task.kind.parse::<Kind>(),
        serde_json::from_slice::<OpenedCredential>(&json),
    ) else {
        return unreadable("the credential came in another form");
    };
    let Ok(content) = decode(&given.content) else {
        return unreadable("the credential is not in base64");
    };
    let text = |text: &'_ Option<SecretText>| text.as_ref().map(|text| text.reveal().to_owned());
    let [password, alias, key_password, key_id, issuer_id] = [
        &given.password,
        &given.alias,
        &given.key_password,
        &given.key_id,
        &given.issuer_id,
    ]
    .map(text);
    let given = CredentialInput {
        content: &content,
        password: password.as_deref(),
        alias: alias.as_deref(),
        key_password: key_password.as_deref(),
        key_id: key_id.as_deref(),
        issuer_id: issuer_id.as_deref(),
        bundle_id: task.bundle_id.as_deref(),
    };
    match launchway_credentials::read(kind, &given, task.now) {
        Ok(facts) => Answer::Read(known(&facts)),
        Err(refusal) => Answer::Refused(refusal.to_string()),
    }
}

/// The facts that are kept.
fn known(facts: &Facts) -> CredentialFacts {
    let mut shown = serde_json::to_value(facts).unwrap_or(Value::Null);
    if let Some(object) = shown.as_object_mut() {
        for name in ["kind", "fingerprint", "expiresAt"] {
            object.remove(name);
        }
    }
    CredentialFacts {
        name: own_name(&facts.details),
        fingerprint: facts.fingerprint.clone(),
        expires_at: facts.expires_at,
        facts: shown,
    }
}

/// The name in the file.
fn own_name(details: &Details) -> String {
    let name = match details {
        Details::AppStoreConnectKey(key) => &key.key_id,
        Details::GoogleServiceAccount(account) => &account.client_email,
        Details::AndroidKeystore(keystore) => &keystore.alias,
        Details::AppleCertificate(certificate) => &certificate.common_name,
        Details::ProvisioningProfile(profile) => &profile.name,
    };
    let short: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
    normalize_name(&short).unwrap_or_else(|| "Credential".to_owned())
}
