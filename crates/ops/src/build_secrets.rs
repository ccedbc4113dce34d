//! The secrets of a build: the variables and credentials that its lease hands out, and the patterns that find them in
//! its log. They are opened only here, and each opening of a secret is audited
//! (`docs/reference/environment.md#sealing`).

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_api::open;
use launchway_api::runner::{LeasedCredential, LeasedVariable};
use launchway_api::secret::SecretText;
use launchway_domain::build::git::{self, AllowedRepositories, is_for_fetch_only};
use launchway_domain::build::{Build, SourceRecord};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::{Signing, for_build};
use launchway_domain::env_var::{BuildScope, EnvVar, SIGNING_KEY, Visibility, resolve};
use launchway_domain::masking::Masker;
use launchway_inspection::credential_form::OpenedCredential;
use launchway_store::Paging;
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::write::Write;
use crate::{credentials, env_vars};

/// More than the maximum number of variables or credentials of an organization.
const ALL: Paging = Paging { limit: 1000, offset: 0 };
/// Longer secrets are masked only by the runner: each byte costs the server a few kilobytes while the build runs.
const MAX_SECRET: usize = 4 << 10;
/// The total bytes of secrets that are masked here for one build; the shortest come first.
const MAX_SECRETS: usize = 32 << 10;

/// The opened secrets that a lease hands out.
#[derive(Debug, Default)]
pub struct Opened {
    /// Environment variables and files.
    pub env: Vec<LeasedVariable>,
    /// The credentials that sign the app.
    pub credentials: Vec<LeasedCredential>,
}

/// Opens the secrets of a build; `what_for` is the reason in the audit log.
pub async fn open(write: &mut Write<'_>, build: &Build, what_for: &str) -> Result<Opened, ApiError> {
    let corrupt = |what: &str| ApiError::Internal(format!("the {what} of the build {} is invalid", build.id));
    let bundle_id: BundleId = build.bundle_id.parse().map_err(|_| corrupt("bundle id"))?;
    let scope = BuildScope {
        bundle_id: &bundle_id,
        configuration: build.configuration.as_ref(),
        platform: build.platform,
    };
    let kept = write.org().env_vars(ALL).await?.items;
    let variables: Vec<_> = kept.iter().map(|kept| kept.variable.clone()).collect();
    let mut opened = Opened::default();
    let mut wanted = resolve(&variables, &scope);
    wanted.retain(|variable| may_be_needed(build, variable));
    // This variable comes first: it decides whether the others may be handed out.
    wanted.sort_by_key(|variable| variable.name != git::URLS);
    let mut bound = AllowedRepositories::default();
    for variable in wanted {
        if git::opens_repositories(&variable.name) && !is_for(&bound, build) {
            continue;
        }
        let Some(kept) = kept.iter().find(|kept| kept.variable.id == variable.id) else {
            continue;
        };
        let value = env_vars::open_for_build(write, kept, what_for).await?;
        if variable.name == git::URLS && variable.path.is_none() {
            bound = AllowedRepositories::parse(value.reveal()).unwrap_or_default();
        }
        opened.env.push(LeasedVariable {
            name: variable.name.clone(),
            value,
            path: variable.path.clone(),
            secret: variable.visibility == Visibility::Secret,
        });
    }
    let signing = Signing {
        bundle_id: &bundle_id,
        platform: build.platform,
        build_type: build.spec.build_type.parse().map_err(|_| corrupt("build type"))?,
        distribution: build.spec.distribution.parse().map_err(|_| corrupt("distribution"))?,
    };
    let all = write.org().credentials(ALL).await?.items;
    for credential in for_build(&all, &signing, write.now()) {
        if let Some(secret) = credentials::open(write, credential.id, what_for).await? {
            opened.credentials.push(LeasedCredential {
                id: credential.id.to_string(),
                kind: open::CredentialKind::of(&credential.kind),
                name: credential.name.clone(),
                facts: credential.facts.clone(),
                secrets: opening(&secret),
                content: secret.content,
            });
        }
    }
    Ok(opened)
}

/// Whether a build can use a variable: one from an archive fetches no repository, and none signs updates.
fn may_be_needed(build: &Build, variable: &EnvVar) -> bool {
    if variable.name == SIGNING_KEY {
        return false;
    }
    matches!(build.spec.source, SourceRecord::Git { .. }) || !is_for_fetch_only(&variable.name)
}

/// Whether the credentials of a repository are for that of a build. Runners check the same; those of earlier releases
/// do not.
fn is_for(bound: &AllowedRepositories, build: &Build) -> bool {
    match &build.spec.source {
        SourceRecord::Git { url, .. } => bound.covers(url),
        SourceRecord::Archive { .. } => false,
    }
}

/// The passwords and names that open a credential.
fn opening(secret: &OpenedCredential) -> BTreeMap<String, SecretText> {
    let fields = [
        ("password", &secret.password),
        ("alias", &secret.alias),
        // A key without a password of its own uses the password of the file.
        (
            "keyPassword",
            if secret.key_password.is_some() {
                &secret.key_password
            } else {
                &secret.password
            },
        ),
        ("keyId", &secret.key_id),
        ("issuerId", &secret.issuer_id),
    ];
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    present.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

impl Opened {
    /// The texts that the log must not contain: as the runner masks them, except the bytes of files.
    fn secrets(&self) -> Vec<Zeroizing<Vec<u8>>> {
        let keep = |text: &SecretText| Zeroizing::new(text.reveal().as_bytes().to_vec());
        let hidden = self
            .env
            .iter()
            .filter(|variable| variable.secret || variable.path.is_some());
        let mut secrets: Vec<_> = hidden.map(|variable| keep(&variable.value)).collect();
        for credential in &self.credentials {
            let named = ["alias", "keyId", "issuerId"];
            let opening = credential
                .secrets
                .iter()
                .filter(|(name, _)| !named.contains(&name.as_str()));
            secrets.extend(opening.map(|(_, secret)| keep(secret)));
            if let Ok(content) = BASE64_STANDARD.decode(credential.content.reveal()) {
                secrets.push(Zeroizing::new(content));
            }
        }
        secrets.retain(|secret| secret.len() <= MAX_SECRET);
        secrets.sort_by(|a, b| (a.len(), a.as_slice()).cmp(&(b.len(), b.as_slice())));
        secrets.dedup();
        let mut left = MAX_SECRETS;
        secrets.retain(|secret| {
            let fits = secret.len() <= left;
            left = left.saturating_sub(secret.len());
            fits
        });
        secrets
    }

    /// A masker for the secrets. Building it is CPU-bound.
    pub fn masker(&self) -> Masker {
        Masker::new(self.secrets().iter().map(|secret| secret.as_slice()))
    }
}
