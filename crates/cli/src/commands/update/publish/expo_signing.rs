//! Signs an update of Expo with its undo, by a key that stays here (`docs/reference/expo.md#signed-updates`).

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_api::expo::{SignedExpo, SignedText, SignedUndo};
use launchway_api::lists::Page;
use launchway_api::updates::{CreateUpdate, UpdateView};
use launchway_client::{Client, Method, Timeouts, http_client};
use launchway_domain::platform::Platform;
use launchway_domain::release::RuntimeVersion;
use launchway_domain::time::EpochMs;
use launchway_foreign::expo::{
    Directive, MAX_MANIFEST_BYTES, Manifest, Part, Previous, RollBack, Signature, SignatureError, SignedRelease,
    SigningError, created_at,
};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use zeroize::Zeroizing;

use super::expo_content::{ExpoContent, NewIssue, new_id};
use crate::failure::Failure;

/// What signs.
pub struct ExpoKey {
    pair: RsaKeyPair,
    id: String,
}

impl ExpoKey {
    /// Reads a private RSA key in PEM, by its name in the app's settings.
    pub fn read(path: &Path, id: &str) -> Result<Self, Failure> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map(Zeroizing::new);
        let text = text.map_err(|error| Failure::failed(format!("cannot read {shown}: {error}")))?;
        let body = |label: &str| {
            let start = format!("-----BEGIN {label}-----");
            let (_, rest) = text.split_once(start.as_str())?;
            let (body, _) = rest.split_once("-----END")?;
            let packed: Zeroizing<String> = Zeroizing::new(body.split_ascii_whitespace().collect());
            BASE64_STANDARD.decode(packed.as_bytes()).map(Zeroizing::new).ok()
        };
        let pair = match (body("PRIVATE KEY"), body("RSA PRIVATE KEY")) {
            (Some(pkcs8), _) => RsaKeyPair::from_pkcs8(&pkcs8).ok(),
            (None, Some(pkcs1)) => RsaKeyPair::from_der(&pkcs1).ok(),
            (None, None) => None,
        };
        let pair = pair.ok_or_else(|| {
            Failure::failed(format!(
                "{shown} is not a private RSA key of at least 2,048 bits in PEM, without a password"
            ))
            .hint("`npx expo-updates codesigning:generate` makes one")
        })?;
        Ok(Self {
            pair,
            id: id.to_owned(),
        })
    }

    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut signature = vec![0; self.pair.public().modulus_len()];
        let signed = self
            .pair
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), bytes, &mut signature);
        signed.map_err(|_| Failure::failed("the key cannot sign"))?;
        Ok(signature)
    }
}

/// What phones have now, and which update that is.
struct Served {
    manifest: Manifest,
    update_id: String,
}

impl ExpoKey {
    /// Signs what is published: the package, right above what phones have now, and not before the time of its issue.
    pub async fn sign_update(
        &self,
        package: &Path,
        create: &CreateUpdate,
        platform: Platform,
        asset_base: Option<&str>,
        issue: NewIssue,
        client: &Client,
    ) -> Result<SignedExpo, Failure> {
        let runtime_version = create.runtime_version.as_deref().unwrap_or_default();
        let runtime_version = RuntimeVersion::parse(runtime_version)
            .map_err(|error| Failure::usage(format!("--runtime-version {error}")))?;
        let served = served(create, platform, client).await?;
        let own_base = served.as_ref().and_then(|served| base_of(&served.manifest));
        let asset_base = match asset_base
            .map(|base| base.trim_end_matches('/').to_owned())
            .or(own_base)
        {
            Some(base) => base,
            None => server_of(client),
        };
        let newest = served.as_ref().map(|served| served.manifest.created_at);
        let issue = NewIssue {
            created_at: created_at(issue.created_at, newest),
            ..issue
        };
        let unsigned = ExpoContent::of(package, platform)?.manifest(&asset_base, create, &runtime_version, issue);
        let previous = match &served {
            Some(served) => Some(Previous {
                manifest: &served.manifest,
                id: new_id()?,
            }),
            None => None,
        };
        let release = SignedRelease::sign(&unsigned, previous, &self.id, |bytes| self.sign(bytes));
        let release = release.map_err(|error| match error {
            SigningError::Key(failure) => failure,
            SigningError::Signature(error) => unusable(&error),
            SigningError::NotLater | SigningError::OtherRuntime => {
                Failure::failed("the server offers an update that this one cannot follow")
            }
        })?;
        Ok(SignedExpo {
            part: text(&release.manifest)?,
            undo: Some(SignedUndo {
                previous: release.previous.as_ref().map(text).transpose()?,
                previous_update_id: served.map(|served| served.update_id),
                embedded: text(&release.embedded)?,
            }),
            certificate_chain: None,
        })
    }

    /// Signs the return to the built-in content, decided at this time or right after what phones have now.
    pub async fn sign_return(
        &self,
        create: &CreateUpdate,
        platform: Platform,
        at: EpochMs,
        client: &Client,
    ) -> Result<SignedExpo, Failure> {
        let served = served(create, platform, client).await?;
        let newest = served.map(|served| served.manifest.created_at);
        let commit_time = created_at(at, newest);
        let body = Directive::RollBack(RollBack { commit_time }).to_json();
        let signature = Signature::new(&self.id, self.sign(&body)?).map_err(|error| unusable(&error))?;
        let part = Part {
            body,
            signature: Some(signature),
        };
        Ok(SignedExpo {
            part: text(&part)?,
            undo: None,
            certificate_chain: None,
        })
    }
}

/// The name of the key cannot be sent.
fn unusable(error: &SignatureError) -> Failure {
    Failure::usage(format!("the signature {error}")).hint("correct --expo-key-id")
}

/// A signed part as it is sent.
fn text(part: &Part) -> Result<SignedText, Failure> {
    let body = String::from_utf8(part.body.clone());
    let signature = part.signature.as_ref().map(|signature| signature.header());
    match (body, signature) {
        (Ok(body), Some(signature)) => Ok(SignedText { body, signature }),
        _ => Err(Failure::failed("cannot write what was signed")),
    }
}

/// The start of the addresses in a manifest.
fn base_of(manifest: &Manifest) -> Option<String> {
    let (base, _) = manifest.launch_asset.url.split_once("/expo/")?;
    Some(base.to_owned())
}

/// What the server offers to every phone now, and which update that is; `None` if it offers none.
async fn served(create: &CreateUpdate, platform: Platform, client: &Client) -> Result<Option<Served>, Failure> {
    let url = format!("{}/expo/{}", server_of(client), create.bundle_id);
    let mut request = http_client(client.base(), &Timeouts::default())?
        .get(url)
        .header("accept", "application/expo+json")
        .header("expo-protocol-version", "1")
        .header("expo-platform", platform.as_str())
        .header(
            "expo-runtime-version",
            create.runtime_version.as_deref().unwrap_or_default(),
        );
    if let Some(channel) = &create.configuration {
        request = request.header("expo-channel-name", channel);
    }
    let unanswered = |error: reqwest::Error| {
        Failure::failed(format!(
            "cannot ask the server what phones have now: {}",
            error.without_url()
        ))
    };
    let mut response = request.send().await.map_err(unanswered)?;
    // 404: no update of the app; 406: the built-in content is what everybody has.
    if response.status() != reqwest::StatusCode::OK {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
        if body.len() + chunk.len() > MAX_MANIFEST_BYTES {
            return Err(Failure::failed("the server sent a manifest of more than 2 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    let manifest = Manifest::parse(&body);
    let manifest = manifest.map_err(|error| Failure::failed(format!("what the server offers now {error}")))?;
    let id = manifest.id.to_string();
    let path = format!(
        "/update?bundleId={}&platform={platform}&protocol=expo&foreignId={id}",
        create.bundle_id
    );
    let found = client.raw(Method::GET, &path, None).await?.or_error()?;
    let found: Page<UpdateView> = serde_json::from_slice(&found.body)
        .map_err(|error| Failure::failed(format!("cannot read the answer of the server: {error}")))?;
    let update = found.items.into_iter().next();
    Ok(update.map(|update| Served {
        manifest,
        update_id: update.id,
    }))
}

/// The address of the server, without the path of its API.
fn server_of(client: &Client) -> String {
    let base = client.base().to_string();
    base.strip_suffix("/api").unwrap_or(&base).to_owned()
}
