//! Targets: fetched under the name of a hash, checked, and kept under their own names.

use std::fs;

use launchway_domain::percent;
use launchway_trust::metadata::Target;
use ring::digest::{Algorithm, SHA256, SHA512, digest};

use crate::Failure;
use crate::arguments::Arguments;
use crate::http::get;

/// The hashes that are known.
const ALGORITHMS: [(&str, &Algorithm); 2] = [("sha256", &SHA256), ("sha512", &SHA512)];
/// Targets of the suite are small.
const LIMIT: u64 = 64 << 20;

/// Fetches a target, unless its file is there already.
pub fn download(arguments: &Arguments, name: &str, target: &Target) -> Result<(), Failure> {
    let path = arguments.target_dir.join(percent::encode(name).to_string());
    if fs::read(&path).is_ok_and(|bytes| check(target, &bytes).is_ok()) {
        return Ok(());
    }
    if target.length > LIMIT {
        return Err(format!("{name} is longer than {LIMIT} bytes").into());
    }
    let (_, hash) = target.hashes.iter().next().ok_or("the target has no hash")?;
    let (folder, file) = name
        .rsplit_once('/')
        .map_or(("", name), |(folder, file)| (folder, file));
    let slash = if folder.is_empty() { "" } else { "/" };
    let quoted: Vec<String> = folder
        .split('/')
        .map(|part| percent::encode(part).to_string())
        .collect();
    let remote = format!("{}{slash}{hash}.{}", quoted.join("/"), percent::encode(file));
    let bytes = get(&arguments.target_base_url, &remote, usize::try_from(target.length)?)?;
    let bytes = bytes.ok_or_else(|| format!("{remote} is missing"))?;
    check(target, &bytes)?;
    Ok(fs::write(path, bytes)?)
}

/// Every hash of a known algorithm must fit, and there must be one.
fn check(target: &Target, bytes: &[u8]) -> Result<(), Failure> {
    if bytes.len() as u64 != target.length {
        return Err("the target has another length than was signed".into());
    }
    let signed = ALGORITHMS.iter().filter_map(|(name, algorithm)| {
        let hash = target.hashes.get(*name)?;
        Some(*hash == hex::encode(digest(algorithm, bytes)))
    });
    let fits: Vec<bool> = signed.collect();
    if !fits.is_empty() && fits.iter().all(|fits| *fits) {
        Ok(())
    } else {
        Err("the target has another hash than was signed".into())
    }
}
