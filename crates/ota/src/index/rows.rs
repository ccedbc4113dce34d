//! Reads the rows of the index from the database, of one bundle or of all.

use launchway_store::{StoreError, System};

use crate::record::RETIRED;
use crate::snapshot::{BundleRows, Row};

/// The maximum number of fingerprint documents of one bundle, the newest ones, from which reasons are prepared.
const DOCUMENTS: i64 = 64;
/// The maximum number of known pairs of equivalent hashes of a bundle, the newest ones.
const PAIRS: i64 = 1000;

/// All rows of one bundle but those for clients of other services, in order.
pub async fn of_bundle(system: &mut System<'_>, key: &str) -> Result<BundleRows, StoreError> {
    let mut rows = BundleRows::new();
    let owned = || key.to_owned();
    let trust = system.trust_for_index(key).await?;
    let files = trust.into_iter().flat_map(|trust| trust.files);
    rows.extend(files.map(|file| Row::TrustFile { key: owned(), file }));
    let updates = system.offered_updates(key).await?;
    if updates.is_empty() {
        return Ok(rows);
    }
    rows.extend(updates.into_iter().map(|update| Row::Offered(Box::new(update))));
    let retired = system.retired_updates(key, RETIRED as i64).await?;
    rows.extend(retired.into_iter().map(|update| Row::Retired { key: owned(), update }));
    let documents = system.fingerprints(key, DOCUMENTS).await?;
    rows.extend(documents.into_iter().map(|(hash, document)| Row::Document {
        key: owned(),
        hash,
        document,
    }));
    let pairs = system.fingerprint_pairs(key, PAIRS).await?;
    rows.extend(pairs.into_iter().map(|(hash, lwfp2)| Row::Pair {
        key: owned(),
        hash,
        lwfp2,
    }));
    Ok(rows)
}

/// Passes all rows of all bundles but those for clients of other services to `take`, in order.
pub async fn for_each(system: &mut System<'_>, mut take: impl FnMut(Row)) -> Result<(), StoreError> {
    system
        .for_each_trust_file(|key, file| take(Row::TrustFile { key, file }))
        .await?;
    system
        .for_each_offered_update(|update| take(Row::Offered(Box::new(update))))
        .await?;
    system
        .for_each_retired_update(RETIRED as i64, |key, update| take(Row::Retired { key, update }))
        .await?;
    let document = |key, hash, document| take(Row::Document { key, hash, document });
    system.for_each_fingerprint(DOCUMENTS, document).await?;
    system
        .for_each_fingerprint_pair(PAIRS, |key, hash, lwfp2| take(Row::Pair { key, hash, lwfp2 }))
        .await
}
