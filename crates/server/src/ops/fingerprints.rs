//! Fingerprint documents: kept with builds and updates, so that differences can be explained (contract parts 7 and 9).

use launchway_api::fingerprints::FingerprintView;
use launchway_domain::build::Build;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument};
use launchway_domain::update::Update;
use launchway_store::Org;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::ops::apps;
use crate::ops::write::Write;

/// Keeps a document of an app. The check explains with it from now on what an app of this fingerprint lacks.
pub async fn keep(
    write: &mut Write<'_>,
    bundle: &BundleId,
    hash: &Fingerprint,
    document: Option<&str>,
) -> Result<(), Failure> {
    let Some(document) = document else { return Ok(()) };
    let now = write.now();
    if write
        .org()
        .keep_fingerprint(bundle, hash.as_str(), document, now)
        .await?
    {
        write.touch_updates(bundle).await?;
    }
    Ok(())
}

/// The document of a hash, if it is known.
pub async fn document(
    org: &mut Org<'_>,
    bundle: &BundleId,
    hash: &Fingerprint,
) -> Result<Option<FingerprintDocument>, Failure> {
    let text = org.fingerprint_document(bundle, hash.as_str()).await?;
    let read = |text: String| FingerprintDocument::from_value(serde_json::from_str(&text).ok()?).ok();
    Ok(text.and_then(read))
}

/// What a build is natively, as the API shows it.
pub async fn of_build(org: &mut Org<'_>, build: &Build) -> Result<FingerprintView, Failure> {
    let json = json(org, &build.bundle_id, build.fingerprint.as_ref()).await?;
    Ok(FingerprintView::of_build(build, json))
}

/// What an update is natively, as the API shows it.
pub async fn of_update(org: &mut Org<'_>, update: &Update) -> Result<FingerprintView, Failure> {
    let json = json(org, &update.bundle_id, update.fingerprint.as_ref()).await?;
    Ok(FingerprintView::of_update(update, json))
}

async fn json(
    org: &mut Org<'_>,
    bundle: &str,
    hash: Option<&Fingerprint>,
) -> Result<Option<Map<String, Value>>, Failure> {
    let Some(hash) = hash else { return Ok(None) };
    let document = document(org, &apps::bundle_id(bundle)?, hash).await?;
    let json = document.and_then(|document| serde_json::from_str(&document.canonical()).ok());
    Ok(json)
}
