//! The objects of builds in a backup: sources, logs, artifacts. A list beside them holds the key and the hash of each.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use launchway_blob::{Blob, BlobError, Key};
use launchway_ops::api_error::ApiError;
use launchway_os::folders::new_private_file;
use launchway_store::System;
use serde::{Deserialize, Serialize};

use super::{OBJECTS, PAGE, hash_file};
use crate::command_error::CommandError;

const LIST: &str = "build-files.jsonl";

/// What the manifest records about the list.
#[derive(Serialize, Deserialize)]
pub(super) struct Listed {
    /// The number of objects in it.
    pub count: u64,
    sha256: String,
}

/// A line of the list: the object with this key is in `objects/build-NUMBER`.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    number: u64,
    sha256: String,
}

/// Saves the objects. A missing object was removed with its build while the backup ran, and is skipped.
pub(super) async fn save(blob: &Blob, system: &mut System<'_>, dir: &Path) -> Result<Listed, CommandError> {
    let path = dir.join(LIST);
    let mut list = BufWriter::new(new_private_file(&path)?);
    let (mut count, mut after) = (0, String::new());
    loop {
        let page = system.build_files_after(&after, PAGE).await.map_err(ApiError::from)?;
        let Some(last) = page.last() else { break };
        after.clone_from(&last.blob_key);
        for named in &page {
            let key = key(&named.blob_key)?;
            let target = object(dir, count);
            let mut file = tokio::fs::File::from_std(new_private_file(&target)?);
            let fetched = match blob.fetch_to_file(&key, &mut file, u64::MAX).await {
                Ok(fetched) => fetched,
                Err(BlobError::NotFound) => {
                    std::fs::remove_file(&target)?;
                    continue;
                }
                Err(error) => return Err(ApiError::from(error).into()),
            };
            file.sync_all().await?;
            let sha256 = hex::encode(fetched.sha256);
            if named.sha256.as_ref().is_some_and(|known| *known != sha256) {
                let problem = format!("The artifact {} in the object storage is damaged", named.blob_key);
                return Err(ApiError::bad(problem).into());
            }
            let line = Line {
                key: named.blob_key.clone(),
                number: count,
                sha256,
            };
            serde_json::to_writer(&mut list, &line).map_err(std::io::Error::from)?;
            list.write_all(b"\n")?;
            count += 1;
        }
    }
    list.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .sync_all()?;
    Ok(Listed {
        count,
        sha256: hash_file(&path)?,
    })
}

/// Checks that every saved object is present and unchanged.
pub(super) fn check(dir: &Path, listed: &Listed) -> Result<(), CommandError> {
    let path = dir.join(LIST);
    if !path.is_file() || hash_file(&path)? != listed.sha256 {
        return Err(damaged(LIST));
    }
    for line in lines(dir)? {
        let line = line?;
        let source = object(dir, line.number);
        if !source.is_file() || hash_file(&source)? != line.sha256 {
            return Err(damaged(&line.key));
        }
    }
    Ok(())
}

/// Puts every object back under its key.
pub(super) async fn restore(blob: &Blob, dir: &Path) -> Result<(), CommandError> {
    for line in lines(dir)? {
        let line = line?;
        let put = blob.put_file(&key(&line.key)?, &object(dir, line.number)).await;
        put.map_err(ApiError::from)?;
    }
    Ok(())
}

fn lines(dir: &Path) -> Result<impl Iterator<Item = Result<Line, CommandError>>, CommandError> {
    let lines = BufReader::new(File::open(dir.join(LIST))?).lines();
    Ok(lines.map(|line| serde_json::from_str(&line?).map_err(|_| damaged(LIST))))
}

fn object(dir: &Path, number: u64) -> std::path::PathBuf {
    dir.join(OBJECTS).join(format!("build-{number}"))
}

fn key(text: &str) -> Result<Key, CommandError> {
    Ok(Key::new(text).map_err(|error| ApiError::Internal(error.to_string()))?)
}

fn damaged(what: &str) -> CommandError {
    ApiError::bad(format!("The backup is damaged: {what} is missing or changed")).into()
}
