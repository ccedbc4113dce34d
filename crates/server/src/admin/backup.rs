//! Backup and restore: the database as one file of JSON lines, plus packages and the files of builds. A backup restores
//! into either database and either object storage. It never contains the master key.

mod build_files;
mod role_versions;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use launchway_blob::{Blob, Key};
use launchway_config::{Config, ConfigError};
use launchway_domain::app::Package;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::{App, StartError, open_blob};
use launchway_ops::audit::audit_installation;
use launchway_ops::list_totals::fold;
use launchway_os::clock::SystemClock;
use launchway_os::folders::{close_to_others, make_lasting_dir, new_private_file, sync_folder};
use launchway_os::random::SystemRandom;
use launchway_store::{Db, DumpError, System};
use launchway_vault::{MasterKey, Vault};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::command_error::CommandError;
use build_files::Listed;

const FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "database.jsonl";
const OBJECTS: &str = "objects";
const PAGE: i64 = 500;
const REASON: &str = "a backup holds every tenant";

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    rows: u64,
    packages: u64,
    build_files: Listed,
    database_sha256: String,
    master_key_check: String,
}

/// Writes a consistent backup into a new or empty directory, while the server runs.
pub async fn backup(app: &App, dir: &Path) -> Result<(Value, String), CommandError> {
    if dir.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(ApiError::bad(format!("{} is not empty. Choose a new directory.", dir.display())).into());
    }
    make_lasting_dir(dir)?;
    close_to_others(dir)?;
    close_to_others(&dir.join(OBJECTS))?;
    let mut tx = app.db.read().await.map_err(ApiError::from)?;
    let mut system = tx.system(REASON);
    let mut file = BufWriter::new(new_private_file(&dir.join(DATABASE))?);
    let rows = system.dump(&mut file).await.map_err(refused)?;
    file.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .sync_all()?;
    let packages = save_packages(app, &mut system, dir).await?;
    let build_files = build_files::save(&app.blob, &mut system, dir).await?;
    let files = build_files.count;
    let check = system
        .meta(launchway_vault::MASTER_KEY_CHECK)
        .await
        .map_err(ApiError::from)?
        .unwrap_or_default();
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rows,
        packages,
        build_files,
        database_sha256: hash_file(&dir.join(DATABASE))?,
        master_key_check: check,
    };
    let text = serde_json::to_string_pretty(&manifest).map_err(std::io::Error::from)?;
    // The manifest turns the directory into a backup, so everything that it names reaches the disk first, directory
    // entries included.
    sync_folder(&dir.join(OBJECTS))?;
    let mut file = new_private_file(&dir.join(MANIFEST))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    sync_folder(dir)?;
    drop(tx);
    let mut tx = app.db.write().await.map_err(ApiError::from)?;
    audit_installation(
        app,
        &mut tx,
        "backup.create",
        &json!({"rows": rows, "packages": packages, "buildFiles": files}),
    )
    .await?;
    tx.commit().await.map_err(ApiError::from)?;
    let key = app.config.master_key_file.display();
    let words = format!(
        "Saved {rows} rows, {packages} packages and {files} files of builds to {}.\nThe master key is not in the \
         backup. Keep {key} safe in another place: a restore needs it.",
        dir.display()
    );
    Ok((
        json!({"rows": rows, "packages": packages, "buildFiles": files, "masterKeyIncluded": false}),
        words,
    ))
}

/// Saves all packages and returns how many there are.
async fn save_packages(app: &App, system: &mut System<'_>, dir: &Path) -> Result<u64, CommandError> {
    let mut packages = 0;
    let mut after = String::new();
    loop {
        let page = system.packages_after(&after, PAGE).await.map_err(ApiError::from)?;
        let Some(last) = page.last() else { break };
        after = last.id.to_string();
        for package in &page {
            save(app, package, dir).await?;
            packages += 1;
        }
    }
    Ok(packages)
}

async fn save(app: &App, package: &Package, dir: &Path) -> Result<(), CommandError> {
    let target = dir.join(OBJECTS).join(package.id.to_string());
    let mut file = tokio::fs::File::from_std(new_private_file(&target)?);
    let key = Key::new(&package.blob_key).map_err(|error| ApiError::Internal(error.to_string()))?;
    let fetched = app
        .blob
        .fetch_to_file(&key, &mut file, package.size as u64)
        .await
        .map_err(ApiError::from)?;
    file.sync_all().await?;
    if hex::encode(fetched.sha256) != package.sha256 {
        let problem = format!("The package {} in the object storage is damaged", package.id);
        return Err(ApiError::bad(problem).into());
    }
    Ok(())
}

/// Reads a backup into an empty database and its object storage. Checks everything before it writes anything.
pub async fn restore(config: Config, dir: &Path) -> Result<(Value, String), CommandError> {
    let manifest = read_manifest(dir)?;
    let master = MasterKey::load(&config.master_key_file, false, &SystemRandom).map_err(StartError::from)?;
    if master.check_value() != manifest.master_key_check {
        let problem = format!(
            "{} is not the master key of this backup",
            config.master_key_file.display()
        );
        return Err(StartError::from(ConfigError::new("--master-key-file", problem)).into());
    }
    if hash_file(&dir.join(DATABASE))? != manifest.database_sha256 {
        return Err(ApiError::bad("The backup is damaged: database.jsonl is not the file that was saved").into());
    }
    build_files::check(dir, &manifest.build_files)?;
    if config.is_embedded() {
        make_lasting_dir(&config.data_dir)?;
    }
    let db = Db::open(config.database_url.reveal()).await.map_err(StartError::from)?;
    let mut tx = db.write().await.map_err(ApiError::from)?;
    let mut lines = BufReader::new(File::open(dir.join(DATABASE))?);
    let undumped = tx.system(REASON).restore_dump(&mut lines).await;
    let rows = undumped.map_err(refused)?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let vault = Vault::open(master, config.master_key_file.clone(), &mut tx, clock.clone(), random)
        .await
        .map_err(StartError::from)?;
    let blob = open_blob(&config, "http://localhost", &vault, clock)
        .await
        .map_err(StartError::from)?;
    let packages = restore_packages(&blob, &mut tx.system(REASON), dir).await?;
    build_files::restore(&blob, dir).await?;
    let apps = role_versions::read(&mut tx.system(REASON)).await?;
    tx.commit().await.map_err(ApiError::from)?;
    fold_totals(&db).await;
    db.close().await;
    let files = manifest.build_files.count;
    let words = format!(
        "Restored {rows} rows, {packages} packages and {files} files of builds. Start the server with the same \
         settings.{}",
        role_versions::words(&apps)
    );
    let told = json!({"rows": rows, "packages": packages, "buildFiles": files, "signedUpdates": apps});
    Ok((told, words))
}

/// Folds the totals of lists, of which each row that was restored made some: a server would do it while others write. The restore
/// is committed and does not depend on it.
async fn fold_totals(db: &Db) {
    if let Err(error) = fold(db).await {
        tracing::error!(%error, "cannot fold the totals of lists; the server will do it");
    }
}

/// Puts all packages back and returns how many there are.
async fn restore_packages(blob: &Blob, system: &mut System<'_>, dir: &Path) -> Result<u64, CommandError> {
    let (mut packages, mut after) = (0, String::new());
    loop {
        let page = system.packages_after(&after, PAGE).await.map_err(ApiError::from)?;
        let Some(last) = page.last() else { return Ok(packages) };
        after = last.id.to_string();
        for package in &page {
            let source = dir.join(OBJECTS).join(package.id.to_string());
            if !source.is_file() || hash_file(&source)? != package.sha256 {
                return Err(ApiError::bad(format!(
                    "The backup is damaged: the package {} is missing or changed",
                    package.id
                ))
                .into());
            }
            let key = Key::new(&package.blob_key).map_err(|error| ApiError::Internal(error.to_string()))?;
            blob.put_file(&key, &source).await.map_err(ApiError::from)?;
            packages += 1;
        }
    }
}

fn read_manifest(dir: &Path) -> Result<Manifest, CommandError> {
    let bytes = std::fs::read(dir.join(MANIFEST))
        .map_err(|error| ApiError::bad(format!("{} has no backup: {MANIFEST}: {error}", dir.display())))?;
    let manifest: Option<Manifest> = serde_json::from_slice(&bytes).ok();
    match manifest.filter(|manifest| manifest.format == FORMAT) {
        Some(manifest) => Ok(manifest),
        None => Err(ApiError::bad(format!("{MANIFEST} is damaged, or from a newer version of the server")).into()),
    }
}

fn hash_file(path: &Path) -> std::io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn refused(error: DumpError) -> CommandError {
    match error {
        DumpError::Io(error) => error.into(),
        DumpError::Store(error) => ApiError::from(error).into(),
        DumpError::Line(_) => ApiError::bad(format!("The backup is damaged: {error}")).into(),
        DumpError::NotEmpty => ApiError::bad("The database is not empty. Restore into a new one.").into(),
    }
}
