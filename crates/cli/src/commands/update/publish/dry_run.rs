//! `update --dry-run`: shows what would be published.

use indicatif::HumanBytes;
use launchway_api::updates::TextOrNumber;
use serde_json::{Value, json};

use super::prepared::PreparedUpdate;
use crate::commands::update::note_on_rollout;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{count_files, fields};

/// The number that the server chooses.
const NEXT_FREE: &str = "auto";

/// Prints the updates: one object each with `--json`.
pub fn print(updates: &[PreparedUpdate], context: &Context) -> Result<(), Failure> {
    for (number, update) in updates.iter().enumerate() {
        let gap = if number == 0 { "" } else { "\n" };
        let shown = || format!("{gap}{}", prose(update));
        context.printer.result(&json(update).to_string(), shown)?;
    }
    for update in updates {
        let rollout = update.create.rollout.and_then(|percent| u8::try_from(percent).ok());
        note_on_rollout(rollout.unwrap_or(100), context);
        let build = build_number(update).unwrap_or_else(|| NEXT_FREE.to_owned());
        update.native.warn_if_newer(&update.create.version, &build, context);
    }
    context.printer.note("Nothing was published, because of --dry-run");
    Ok(())
}

/// The build number that was asked for; `None` for the next free one.
fn build_number(update: &PreparedUpdate) -> Option<String> {
    match update.create.build_number.as_ref()? {
        TextOrNumber::Text(text) => Some(text.clone()).filter(|text| text != NEXT_FREE),
        TextOrNumber::Number(number) => Some(number.to_string()),
    }
}

/// How many files the package has, and their size.
fn content(update: &PreparedUpdate) -> (usize, u64) {
    let files = update.measured.iter().flat_map(|measured| measured.files.files());
    files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.size))
}

fn json(update: &PreparedUpdate) -> Value {
    let create = &update.create;
    let (files, unpacked) = content(update);
    json!({
        "dryRun": true,
        "bundleId": create.bundle_id,
        "platform": create.platform,
        "version": create.version,
        "buildNumber": build_number(update),
        "configuration": create.configuration,
        "format": create.format,
        "runtimeVersion": create.runtime_version,
        "fingerprint": update.fingerprint_hash(),
        "releaseNotes": create.release_notes.as_deref().unwrap_or_default(),
        "mandatory": create.mandatory.unwrap_or_default(),
        "rollout": create.rollout.unwrap_or(100),
        "size": update.package.sealed.size,
        "sha256": update.package.sealed.sha256,
        "fileCount": files,
        "unpackedSize": unpacked,
    })
}

fn prose(update: &PreparedUpdate) -> String {
    let create = &update.create;
    let or = |value: Option<String>, none: &str| value.unwrap_or_else(|| none.to_owned());
    let build = build_number(update).map(|number| format!("build {number}"));
    let (files, unpacked) = content(update);
    let package = format!(
        "{}, {} of {}",
        HumanBytes(update.package.sealed.size),
        count_files(i64::try_from(files).unwrap_or(i64::MAX)),
        HumanBytes(unpacked)
    );
    fields(&[
        ("App", create.bundle_id.clone()),
        ("Platform", create.platform.to_string()),
        (
            "Version",
            format!("{} ({})", create.version, or(build, "next free build number")),
        ),
        ("Configuration", or(create.configuration.clone(), "all")),
        ("Fingerprint", or(update.fingerprint_hash(), "any")),
        ("Rollout", format!("{} %", create.rollout.unwrap_or(100))),
        (
            "Mandatory",
            create.mandatory.filter(|is| *is).map_or("", |_| "yes").to_owned(),
        ),
        ("Package", package),
        ("SHA-256", update.package.sealed.sha256.clone()),
        ("Notes", create.release_notes.clone().unwrap_or_default()),
    ])
}
