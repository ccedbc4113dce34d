//! The environment of a step: its variables, the files of `kind file` variables, and the credentials.
//!
//! The order of precedence, lowest first: the defaults of every step, the plan, the organization's variables, the facts
//! of the build.
//!
//! A credential is a file outside the source. The variable with its path is `LAUNCHWAY_` and the credential's kind,
//! such as `LAUNCHWAY_ANDROID_KEYSTORE`. What opens it follows: `…_PASSWORD`, `…_KEY_ALIAS`, `…_KEY_PASSWORD`, `…_ID`,
//! `…_ISSUER_ID`. The second credential of a kind has a `_2` after the kind, and so on.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use launchway_api::open;
use launchway_api::runner::{Lease, LeasedCredential, LeasedVariable};
use launchway_domain::build::git::is_for_fetch_only;
use launchway_domain::build::plan::Plan;
use launchway_domain::credential::CredentialKind;
use launchway_domain::env_var::SIGNING_KEY;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::executor::MARK;
use crate::inside::Inside;
use crate::workspace::Workspace;

/// The non-secret fields that are needed to open a credential.
const NAMES: [&str; 3] = ["alias", "keyId", "issuerId"];

/// Why the environment could not be created.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The file of a variable cannot be written.
    #[error("cannot write the file of the variable {name} to {path}: {source}")]
    File {
        /// The name of the variable.
        name: String,
        /// The path of the file.
        path: String,
        /// The I/O error.
        source: io::Error,
    },
    /// A credential is not valid base64, or cannot be written.
    #[error("cannot write the credential {0} to the workspace")]
    Credential(String),
}

/// The values that the log of a build masks.
pub fn secrets(lease: &Lease) -> Vec<Zeroizing<Vec<u8>>> {
    let keep = |text: &str| Zeroizing::new(text.as_bytes().to_vec());
    let hidden = |variable: &&LeasedVariable| variable.secret || variable.path.is_some();
    let mut secrets: Vec<_> = lease
        .env
        .iter()
        .filter(hidden)
        .map(|variable| keep(variable.value.reveal()))
        .collect();
    for credential in &lease.credentials {
        secrets.push(keep(credential.content.reveal()));
        secrets.extend(content(credential));
        let opening = credential
            .secrets
            .iter()
            .filter(|(name, _)| !NAMES.contains(&name.as_str()));
        secrets.extend(opening.map(|(_, secret)| keep(secret.reveal())));
    }
    secrets
}

/// The environment of every command of a build, including the runner's own `git`.
pub fn base(path: &str, workspace: &Workspace, mark: &str) -> BTreeMap<String, String> {
    let shown = |path: PathBuf| path.to_string_lossy().into_owned();
    let (home, temporary) = (shown(workspace.home()), shown(workspace.temporary()));
    let language = if cfg!(target_os = "macos") {
        "en_US.UTF-8"
    } else {
        "C.UTF-8"
    };
    // Java reads neither `HOME` nor `TMPDIR` from the environment.
    let java = format!("-Duser.home={home} -Djava.io.tmpdir={temporary}");
    let base = [
        ("PATH", path.to_owned()),
        ("HOME", home),
        ("TMPDIR", temporary),
        ("LANG", language.to_owned()),
        ("CI", "true".to_owned()),
        ("JAVA_TOOL_OPTIONS", java),
        (MARK, mark.to_owned()),
    ];
    base.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The environment of the steps, based on [`base`]. Writes the files that it names.
///
/// # Errors
/// A file cannot be written.
pub fn step_environment(
    mut env: BTreeMap<String, String>,
    lease: &Lease,
    plan: &Plan,
    workspace: &Workspace,
    commit: Option<&str>,
) -> Result<BTreeMap<String, String>, EnvironmentError> {
    let mark = env.get(MARK).cloned().unwrap_or_default();
    env.extend(plan.env.clone());
    let for_steps = |variable: &&LeasedVariable| !is_for_fetch_only(&variable.name) && variable.name != SIGNING_KEY;
    for variable in lease.env.iter().filter(for_steps) {
        let value = match &variable.path {
            None => variable.value.reveal().to_owned(),
            Some(path) => write_file(variable, path, &workspace.source())?,
        };
        env.insert(variable.name.clone(), value);
    }
    env.extend(facts(lease, workspace, commit));
    env.insert(MARK.to_owned(), mark);
    // The tools stay reachable even if `PATH` is overridden: presets call them.
    let tools = workspace.tools().to_string_lossy().into_owned();
    let path = env.get("PATH").map(|path| format!("{tools}:{path}"));
    env.insert("PATH".to_owned(), path.unwrap_or(tools));
    let mut seen: HashMap<&str, u32> = HashMap::new();
    for credential in &lease.credentials {
        let count = seen.entry(credential.kind.as_str()).or_default();
        *count += 1;
        env.extend(write_credential(credential, *count, &workspace.files())?);
    }
    // Whatever set it: the plan comes from the source.
    env.remove(SIGNING_KEY);
    Ok(env)
}

fn facts(lease: &Lease, workspace: &Workspace, commit: Option<&str>) -> BTreeMap<String, String> {
    let facts = [
        ("BUILD_ID", Some(lease.build_id.clone())),
        ("ATTEMPT", Some(lease.attempt.to_string())),
        ("BUNDLE_ID", Some(lease.bundle_id.clone())),
        ("PLATFORM", Some(lease.platform.to_string())),
        ("CONFIGURATION", lease.configuration.clone()),
        ("PROFILE", lease.profile.clone()),
        ("BUILD_TYPE", Some(lease.build_type.to_string())),
        ("DISTRIBUTION", Some(lease.distribution.to_string())),
        ("VERSION", lease.version.clone()),
        ("BUILD_NUMBER", lease.build_number.clone()),
        ("COMMIT", commit.map(str::to_owned)),
        ("WORKSPACE", Some(workspace.source().to_string_lossy().into_owned())),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known
        .map(|(name, value)| (format!("LAUNCHWAY_{name}"), value))
        .collect()
}

/// Writes the file of a variable, replacing what the source has at its path. Returns the path.
fn write_file(variable: &LeasedVariable, path: &str, source: &Path) -> Result<String, EnvironmentError> {
    let write = || -> io::Result<()> {
        let inside = Inside::open(source)?;
        inside.remove_file(Path::new(path))?;
        inside
            .create(Path::new(path), 0o600)?
            .write_all(variable.value.reveal().as_bytes())
    };
    let whole = source.join(path).to_string_lossy().into_owned();
    write().map(|()| whole).map_err(|source| EnvironmentError::File {
        name: variable.name.clone(),
        path: path.to_owned(),
        source,
    })
}

/// Writes the file of a credential. Returns its variables.
fn write_credential(
    credential: &LeasedCredential,
    count: u32,
    files: &Path,
) -> Result<BTreeMap<String, String>, EnvironmentError> {
    let failed = || EnvironmentError::Credential(credential.name.clone());
    let kind: String = credential
        .kind
        .as_str()
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect();
    let nth = if count == 1 { String::new() } else { format!("_{count}") };
    let file = format!("{kind}{nth}.{}", ending(&credential.kind));
    let bytes = content(credential).ok_or_else(failed)?;
    let written = Inside::open(files).and_then(|inside| inside.create(Path::new(&file), 0o600)?.write_all(&bytes));
    written.map_err(|_| failed())?;
    let name = format!("LAUNCHWAY_{}{nth}", kind.to_ascii_uppercase());
    let mut env = BTreeMap::from([(name.clone(), files.join(file).to_string_lossy().into_owned())]);
    for fact in NAMES {
        if let Some(Value::String(text)) = credential.facts.get(fact) {
            env.insert(format!("{name}_{}", suffix(fact)), text.clone());
        }
    }
    for (secret, value) in &credential.secrets {
        env.insert(format!("{name}_{}", suffix(secret)), value.reveal().to_owned());
    }
    Ok(env)
}

fn content(credential: &LeasedCredential) -> Option<Zeroizing<Vec<u8>>> {
    STANDARD.decode(credential.content.reveal()).ok().map(Zeroizing::new)
}

/// The file extension that tools expect.
fn ending(kind: &open::CredentialKind) -> &'static str {
    match kind.known() {
        Some(CredentialKind::AndroidKeystore) => "keystore",
        Some(CredentialKind::AppleCertificate) => "p12",
        Some(CredentialKind::ProvisioningProfile) => "mobileprovision",
        Some(CredentialKind::AppStoreConnectKey) => "p8",
        Some(CredentialKind::GoogleServiceAccount) => "json",
        None => "bin",
    }
}

/// `keyPassword` becomes `KEY_PASSWORD`.
fn suffix(name: &str) -> String {
    match name {
        "alias" => return "KEY_ALIAS".to_owned(),
        "keyId" => return "ID".to_owned(),
        _ => {}
    }
    let mut suffix = String::new();
    for letter in name.chars().filter(char::is_ascii_alphanumeric) {
        if letter.is_ascii_uppercase() {
            suffix.push('_');
        }
        suffix.push(letter.to_ascii_uppercase());
    }
    suffix
}
