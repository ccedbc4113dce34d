//! APKs and AABs: the manifest, in binary XML or as a protocol buffer, the signer's certificate, and the architectures
//! of native code.

mod binary_xml;
mod manifest;
mod protobuf_xml;
mod resource_table;
mod signing_block;
mod string_pool;

use std::collections::BTreeSet;
use std::io::{Read, Seek};

use launchway_credentials::SigningCertificate;
use launchway_domain::platform::Platform;

use crate::archive::Archive;
use crate::error::BinaryError;
use crate::facts::{BinaryFacts, Format, Scheme, Signer};
use crate::owned;
use manifest::{Field, Manifest};

/// The path of the manifest in an APK.
pub(crate) const MANIFEST: &str = "AndroidManifest.xml";
/// The path of the manifest in an AAB.
pub(crate) const BUNDLE_MANIFEST: &str = "base/manifest/AndroidManifest.xml";
const RESOURCES: &str = "resources.arsc";
const JAR_SIGNATURE: &str = "The JAR signature";

/// The folders of native code, named like the ABIs of Android's NDK, including former ones.
const ARCHITECTURES: [&str; 8] = [
    "arm64-v8a",
    "armeabi",
    "armeabi-v7a",
    "mips",
    "mips64",
    "riscv64",
    "x86",
    "x86_64",
];

/// In bytes; real ones have some 10 KiB.
const MAX_MANIFEST: u64 = 4 << 20;
/// In bytes; large apps have 20 MiB.
const MAX_RESOURCES: u64 = 128 << 20;
/// The maximum size of a signature file in META-INF, in bytes.
const MAX_JAR_SIGNATURE: u64 = 1 << 20;

pub(crate) fn read_apk<R: Read + Seek>(archive: &mut Archive<R>) -> Result<BinaryFacts, BinaryError> {
    let bytes = manifest_bytes(archive, Format::Apk, MANIFEST)?;
    if bytes.trim_ascii_start().starts_with(b"<") {
        return Err(BinaryError::Library);
    }
    let manifest = binary_xml::read(&bytes).map_err(|_| BinaryError::Damaged { part: MANIFEST })?;
    let mut warnings = Vec::new();
    let manifest = resolve_references(archive, manifest, &mut warnings)?;
    let mut signer = block_signer(archive, &mut warnings)?;
    if signer.is_none() {
        signer = jar_signer(archive, &mut warnings)?;
    }
    let architectures = architectures(archive, |name| name.strip_prefix(b"lib/"));
    facts(Format::Apk, &manifest, signer, architectures, warnings)
}

pub(crate) fn read_aab<R: Read + Seek>(archive: &mut Archive<R>) -> Result<BinaryFacts, BinaryError> {
    let bytes = manifest_bytes(archive, Format::Aab, BUNDLE_MANIFEST)?;
    let manifest = protobuf_xml::read(&bytes).map_err(|_| BinaryError::Damaged { part: BUNDLE_MANIFEST })?;
    let mut warnings = Vec::new();
    let signer = jar_signer(archive, &mut warnings)?;
    let architectures = architectures(archive, |name| {
        let module = name.iter().position(|byte| *byte == b'/')?;
        name[module..].strip_prefix(b"/lib/")
    });
    facts(Format::Aab, &manifest, signer, architectures, warnings)
}

fn manifest_bytes<R: Read + Seek>(
    archive: &mut Archive<R>,
    format: Format,
    part: &'static str,
) -> Result<Vec<u8>, BinaryError> {
    let place = archive.find(part.as_bytes(), part)?.ok_or(BinaryError::Missing {
        format: format.as_str(),
        part,
    })?;
    archive.read(place, MAX_MANIFEST, part)
}

fn facts(
    format: Format,
    manifest: &Manifest,
    signer: Option<Signer>,
    architectures: Vec<&'static str>,
    warnings: Vec<String>,
) -> Result<BinaryFacts, BinaryError> {
    let bundle_id = manifest.text(Field::Package).ok_or(BinaryError::FieldMissing {
        part: MANIFEST,
        field: "package",
    })?;
    let build_number = manifest.number(Field::VersionCode).map(|low| {
        let high = manifest.number(Field::VersionCodeMajor).unwrap_or(0);
        (u64::from(high) << 32 | u64::from(low)).to_string()
    });
    Ok(BinaryFacts {
        format,
        bundle_id,
        version: manifest.text(Field::VersionName),
        build_number,
        min_os: manifest.text(Field::MinSdk),
        target_sdk: manifest.number(Field::TargetSdk),
        sdk: None,
        icon: None,
        debuggable: Some(manifest.flag(Field::Debuggable)),
        platforms: vec![Platform::Android],
        simulator: false,
        architectures: Some(owned(architectures)),
        system_classes: None,
        purpose_strings: Vec::new(),
        signer,
        warnings,
        profile: None,
        entitlements: None,
        simulator_code: Vec::new(),
        extensions: Vec::new(),
    })
}

/// The architectures for which the file contains native code. `in_libraries` returns the rest of a name after the
/// folder of native code.
fn architectures<R: Read + Seek>(
    archive: &Archive<R>,
    in_libraries: impl Fn(&[u8]) -> Option<&[u8]>,
) -> Vec<&'static str> {
    let mut found = BTreeSet::new();
    for entry in archive.entries() {
        let mut parts = in_libraries(entry.name).unwrap_or_default().split(|byte| *byte == b'/');
        if let (Some(folder), Some(file), None) = (parts.next(), parts.next(), parts.next())
            && file.ends_with(b".so")
        {
            found.extend(ARCHITECTURES.into_iter().find(|name| name.as_bytes() == folder));
        }
    }
    found.into_iter().collect()
}

/// The manifest with its references to resources resolved. Unresolved values stay absent.
fn resolve_references<R: Read + Seek>(
    archive: &mut Archive<R>,
    mut manifest: Manifest,
    warnings: &mut Vec<String>,
) -> Result<Manifest, BinaryError> {
    let references = manifest.references();
    if references.is_empty() {
        return Ok(manifest);
    }
    let bytes = match archive.find(RESOURCES.as_bytes(), RESOURCES)? {
        Some(place) => archive.read(place, MAX_RESOURCES, RESOURCES)?,
        None => Vec::new(),
    };
    for (field, id) in references {
        match resource_table::value(&bytes, id) {
            Ok(Some(value)) => manifest.replace(field, value),
            _ => warnings.push(format!(
                "The {field} in the manifest is a reference to a resource, which cannot be read"
            )),
        }
    }
    Ok(manifest)
}

/// The signer of the newest scheme in the APK Signing Block, if there is one.
fn block_signer<R: Read + Seek>(
    archive: &mut Archive<R>,
    warnings: &mut Vec<String>,
) -> Result<Option<Signer>, BinaryError> {
    let before = archive.before_directory(signing_block::MAX_BLOCK)?;
    let found = match signing_block::certificate(&before) {
        Ok(None) => return Ok(None),
        Ok(Some((scheme, der))) => SigningCertificate::from_der(der)
            .ok()
            .map(|found| Signer::new(found, scheme)),
        Err(_) => None,
    };
    if found.is_none() {
        warnings.push("Cannot read the APK Signing Block".to_owned());
    }
    Ok(found)
}

/// The signer of a signed JAR: of the first signature file in META-INF.
fn jar_signer<R: Read + Seek>(
    archive: &mut Archive<R>,
    warnings: &mut Vec<String>,
) -> Result<Option<Signer>, BinaryError> {
    let is_signature = |name: &[u8]| {
        let in_folder = name.strip_prefix(b"META-INF/").filter(|file| !file.contains(&b'/'));
        let extension = in_folder.and_then(|file| file.rsplit(|byte| *byte == b'.').next());
        extension.is_some_and(|extension| {
            [&b"RSA"[..], b"EC", b"DSA"]
                .iter()
                .any(|one| extension.eq_ignore_ascii_case(one))
        })
    };
    let name = archive
        .entries()
        .map(|entry| entry.name)
        .find(|name| is_signature(name));
    let Some(name) = name.map(<[u8]>::to_vec) else {
        return Ok(None);
    };
    let Some(place) = archive.find(&name, JAR_SIGNATURE)? else {
        return Ok(None);
    };
    let signed = archive.read(place, MAX_JAR_SIGNATURE, JAR_SIGNATURE)?;
    match SigningCertificate::from_signed_data(&signed) {
        Ok(certificate) => Ok(Some(Signer::new(certificate, Scheme::V1))),
        Err(_) => {
            warnings.push("Cannot read the JAR signature in META-INF".to_owned());
            Ok(None)
        }
    }
}
