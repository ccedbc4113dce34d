//! Submissions that wait, each of an app of its own: Google Play makes changes of one app one after the other.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use anyhow::Context;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::record::{Spec, Work};
use launchway_domain::submission::{FileKind, Submission, SubmissionFile, SubmissionState};
use launchway_domain::time::{EpochMs, HOUR};
use launchway_store::Db;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::Submitter;
use crate::builds;

/// A small app.
const APP: &[u8] = include_bytes!("../../../crates/binaries/tests/fixtures/release.aab");
/// Its package name.
const PACKAGE: &[u8] = b"com.example.app";
const VERSION: &str = "1.2.3";
const VERSION_CODE: &str = "42";
/// Where a server keeps objects, within its data directory.
const OBJECTS: &str = "objects";
/// Submissions written per transaction.
const BATCH: u32 = 1_000;

/// Writes this many submissions that are due, with their apps, while the server does not run.
///
/// # Errors
/// When the database fails, or a file cannot be written.
pub async fn fill(db: &Db, data: &Path, submitters: &[Submitter], count: u32) -> anyhow::Result<()> {
    let now = builds::now()?;
    fs::create_dir_all(data.join(OBJECTS).join("submissions"))?;
    for first in (0..count).step_by(BATCH as usize) {
        let mut tx = db.write().await?;
        for number in first..count.min(first + BATCH) {
            let submitter = &submitters[number as usize % submitters.len()];
            let name = package(number);
            let app = app(&name)?;
            let new = submission(submitter, &name, &app, number, now)?;
            let file = SubmissionFile {
                kind: FileKind::App,
                blob_key: format!("submissions/bench-{number}"),
                file_name: "app.aab".to_owned(),
                size: app.len() as i64,
                sha256: new.sha256.clone(),
            };
            fs::write(data.join(OBJECTS).join(&file.blob_key), &app)?;
            let mut org = tx.org(submitter.org);
            org.create_submission(&new, &BundleId::parse(&name)?).await?;
            org.add_submission_file(new.id, 0, &file).await?;
        }
        tx.commit().await?;
    }
    Ok(())
}

fn submission(
    submitter: &Submitter,
    package: &str,
    app: &[u8],
    number: u32,
    now: EpochMs,
) -> anyhow::Result<Submission> {
    let mut new = Submission {
        id: builds::id(9, number, now),
        org_id: submitter.org,
        state: SubmissionState::new(),
        build_id: None,
        bundle_id: package.to_owned(),
        platform: Platform::Android,
        destination: Destination::parse(Platform::Android, "internal").context("a destination")?,
        version: Some(VERSION.to_owned()),
        build_number: Some(VERSION_CODE.to_owned()),
        sha256: hex::encode(Sha256::digest(app)),
        rollout: 100,
        spec: Spec::default(),
        credential_id: Some(submitter.credential),
        external: Default::default(),
        change: None,
        error: None,
        events: Vec::new(),
        work: Work {
            due_at: Some(now - HOUR + i64::from(number)),
            since: now,
            ..Work::default()
        },
        created_by: "system".to_owned(),
        created_at: now,
        finished_at: None,
    };
    new.add_event(now, "It waits for its turn.");
    Ok(new)
}

/// A package name as long as [`PACKAGE`].
fn package(number: u32) -> String {
    format!("com.bench.a{number:04x}")
}

/// The app under another package name. Its signature names its signer, but is no longer valid, which only Google would see.
fn app(package: &str) -> anyhow::Result<Vec<u8>> {
    let mut from = ZipArchive::new(Cursor::new(APP))?;
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for place in 0..from.len() {
        let mut file = from.by_index(place)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        while let Some(at) = bytes.windows(PACKAGE.len()).position(|part| part == PACKAGE) {
            bytes[at..at + PACKAGE.len()].copy_from_slice(package.as_bytes());
        }
        to.start_file(file.name()?, SimpleFileOptions::default())?;
        to.write_all(&bytes)?;
    }
    Ok(to.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_number_has_an_app_of_its_own() {
        let names: HashSet<String> = (0..1 << 16).map(package).collect();
        assert_eq!(names.len(), 1 << 16);
        assert!(names.iter().all(|name| name.len() == PACKAGE.len()));
        let (one, other) = (app(&package(1)).unwrap(), app(&package(0xffff)).unwrap());
        assert!(one != other && one != APP);
    }
}
