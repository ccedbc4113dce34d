//! Fingerprint documents: stored with builds and updates to explain differences (`docs/reference/updates.md#reasons`).

use launchway_api::fingerprints::FingerprintView;
use launchway_domain::build::Build;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument};
use launchway_domain::update::Update;
use launchway_store::Org;
use serde_json::{Map, Value};

use crate::api_error::ApiError;
use crate::apps;
use crate::write::Write;

/// Stores a fingerprint document of an app. From then on checks use it to explain why apps with this fingerprint cannot
/// take an update.
pub async fn store(
    write: &mut Write<'_>,
    bundle: &BundleId,
    hash: &Fingerprint,
    document: Option<&str>,
) -> Result<(), ApiError> {
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

/// Records that a hash and this `lwfp-2` hash describe the same native code: from then on apps of either take updates
/// of the other. The app must be claimed already.
pub async fn store_pair(
    write: &mut Write<'_>,
    bundle: &BundleId,
    hash: &Fingerprint,
    lwfp2: Option<&Fingerprint>,
) -> Result<(), ApiError> {
    let Some(lwfp2) = lwfp2.filter(|lwfp2| *lwfp2 != hash) else {
        return Ok(());
    };
    if write
        .org()
        .pair_fingerprint(bundle, hash.as_str(), lwfp2.as_str())
        .await?
    {
        write.touch_updates(bundle).await?;
    }
    Ok(())
}

/// Parses the `lwfp-2` hash of a request.
pub fn lwfp2(text: Option<&str>) -> Result<Option<Fingerprint>, ApiError> {
    let read = |text: &str| {
        text.parse()
            .map_err(|_| ApiError::bad("lwfp2 must be 1 to 128 visible ASCII characters"))
    };
    text.map(read).transpose()
}

/// Whether two hashes describe the same native code. `lwfp2` was sent with the second one.
pub async fn is_same_code(
    org: &mut Org<'_>,
    bundle: &BundleId,
    one: &Fingerprint,
    other: &Fingerprint,
    lwfp2: Option<&Fingerprint>,
) -> Result<bool, ApiError> {
    if one == other {
        return Ok(true);
    }
    let second = |known: Option<String>, itself: &Fingerprint| known.unwrap_or_else(|| itself.to_string());
    let of_one = second(org.paired_fingerprint(bundle, one.as_str()).await?, one);
    let of_other = match lwfp2 {
        Some(lwfp2) => lwfp2.to_string(),
        None => second(org.paired_fingerprint(bundle, other.as_str()).await?, other),
    };
    Ok(of_one == of_other)
}

/// The document of a hash, if it is stored.
pub async fn document(
    org: &mut Org<'_>,
    bundle: &BundleId,
    hash: &Fingerprint,
) -> Result<Option<FingerprintDocument>, ApiError> {
    let text = org.fingerprint_document(bundle, hash.as_str()).await?;
    let read = |text: String| FingerprintDocument::from_value(serde_json::from_str(&text).ok()?).ok();
    Ok(text.and_then(read))
}

/// The API's view of the fingerprint of a build.
pub async fn of_build(org: &mut Org<'_>, build: &Build) -> Result<FingerprintView, ApiError> {
    let (json, lwfp2) = known(org, &build.bundle_id, build.fingerprint.as_ref()).await?;
    Ok(FingerprintView::of_build(build, json, lwfp2))
}

/// The API's view of the fingerprint of an update.
pub async fn of_update(org: &mut Org<'_>, update: &Update) -> Result<FingerprintView, ApiError> {
    let (json, lwfp2) = known(org, &update.bundle_id, update.fingerprint.as_ref()).await?;
    Ok(FingerprintView::of_update(update, json, lwfp2))
}

/// The document of a hash, and its `lwfp-2` hash.
async fn known(
    org: &mut Org<'_>,
    bundle: &str,
    hash: Option<&Fingerprint>,
) -> Result<(Option<Map<String, Value>>, Option<String>), ApiError> {
    let Some(hash) = hash else { return Ok((None, None)) };
    let bundle = apps::bundle_id(bundle)?;
    let document = document(org, &bundle, hash).await?;
    let lwfp2 = org.paired_fingerprint(&bundle, hash.as_str()).await?;
    let json = document.and_then(|document| serde_json::from_str(&document.canonical()).ok());
    Ok((json, lwfp2))
}
