//! Who signed a bundle of an IPA, with which entitlements, and under which provisioning profile.

use std::io::{BufReader, Read, Seek};

use launchway_credentials::{Details, MAX_SIZE, SigningCertificate, read_profile, read_xml_dictionary};
use plist::Value;

use super::EXECUTABLE;
use super::mach_o::{CodeSignature, MachO};
use crate::MAX_TEXT;
use crate::archive::{Archive, Place};
use crate::error::BinaryError;
use crate::facts::{Entitlements, Profile, Scheme, Signer};
use crate::fields::MalformedError;

const PROFILE: &str = "embedded.mobileprovision";
/// In bytes; real ones have a few KiB.
const MAX_ENTITLEMENTS: usize = 256 << 10;
/// How many entitlements are named that a profile does not grant.
const MAX_NAMED: usize = 20;

/// A provisioning profile, and what it grants.
pub(super) struct FoundProfile {
    pub(super) facts: Profile,
    entitlements: Vec<String>,
}

/// The entitlements of one or more slices.
#[derive(Default)]
pub(super) struct FoundEntitlements {
    application_id: Option<String>,
    pub(super) debuggable: bool,
    names: Vec<String>,
}

/// What the code signatures of an executable say.
#[derive(Default)]
pub(super) struct Signing {
    /// The signer of the first slice, if all slices are signed.
    pub(super) signer: Option<Signer>,
    /// Whether all slices are signed; `None`: unknown.
    pub(super) is_signed: Option<bool>,
    /// The entitlements of all slices together.
    pub(super) entitlements: Option<FoundEntitlements>,
    /// Whether a signature could not be read.
    pub(super) is_unreadable: bool,
}

/// The profile, if there is one. An unreadable one is a warning, as Apple's tools may support more formats.
pub(super) fn profile<R: Read + Seek>(
    archive: &mut Archive<R>,
    folder: &[u8],
    warnings: &mut Vec<String>,
) -> Result<Option<FoundProfile>, BinaryError> {
    let Some(place) = archive.find(&[folder, PROFILE.as_bytes()].concat(), PROFILE)? else {
        return Ok(None);
    };
    let content = archive.read(place, MAX_SIZE as u64, PROFILE)?;
    match read_profile(&content) {
        Ok(facts) => Ok(match facts.details {
            Details::ProvisioningProfile(profile) => Some(FoundProfile {
                facts: Profile {
                    uuid: profile.uuid,
                    name: profile.name,
                    team_id: profile.team_id,
                    profile_type: profile.profile_type,
                    bundle_id_pattern: profile.bundle_id_pattern,
                    expires_at: facts.expires_at,
                },
                entitlements: profile.entitlements,
            }),
            _ => None,
        }),
        Err(error) => {
            warnings.push(format!("Cannot read the IPA's provisioning profile: {error}"));
            Ok(None)
        }
    }
}

/// Reads the signatures of all slices of an executable of at most `left` bytes, and deducts what it read.
pub(super) fn read<R: Read + Seek>(
    archive: &mut Archive<R>,
    place: Place,
    left: &mut u64,
) -> Result<Signing, BinaryError> {
    let mut unpacked = archive.unpack(place, EXECUTABLE)?.take(*left);
    let read = MachO::open(BufReader::new(&mut unpacked)).and_then(slices);
    *left = unpacked.limit();
    Ok(read.unwrap_or_else(|MalformedError| Signing {
        is_unreadable: true,
        ..Signing::default()
    }))
}

fn slices(mut executable: MachO<impl Read>) -> Result<Signing, MalformedError> {
    let mut signing = Signing {
        is_signed: Some(true),
        ..Signing::default()
    };
    while let Some(slice) = executable.next_slice() {
        let CodeSignature { signed, entitlements } = slice?.signature()?;
        match signed {
            None => signing.is_signed = Some(false),
            Some(signed) => {
                let certificate = SigningCertificate::from_signed_data(&signed).map_err(|_| MalformedError)?;
                let signer = Signer::new(certificate, Scheme::CodeSignature);
                signing.signer.get_or_insert(signer);
            }
        }
        if let Some(entitlements) = entitlements {
            let all = signing.entitlements.get_or_insert_default();
            all.add(&entitlements)?;
        }
    }
    if signing.is_signed == Some(false) {
        signing.signer = None;
    }
    Ok(signing)
}

impl FoundEntitlements {
    fn add(&mut self, list: &[u8]) -> Result<(), MalformedError> {
        if list.len() > MAX_ENTITLEMENTS {
            return Err(MalformedError);
        }
        let list = read_xml_dictionary(list).map_err(|_| MalformedError)?;
        let id = list.get("application-identifier").and_then(Value::as_string);
        let id = id.filter(|id| id.chars().count() <= MAX_TEXT);
        self.application_id = self.application_id.take().or_else(|| id.map(str::to_owned));
        self.debuggable |= list.get("get-task-allow").and_then(Value::as_boolean) == Some(true);
        let restricted = list.keys().filter(|name| is_restricted(name));
        self.names
            .extend(restricted.filter(|name| name.len() <= MAX_TEXT).cloned());
        self.names.sort();
        self.names.dedup();
        Ok(())
    }

    /// The facts, compared with the profile.
    pub(super) fn facts(self, profile: Option<&FoundProfile>) -> Entitlements {
        let lacks = |name: &String| profile.is_some_and(|profile| !profile.entitlements.contains(name));
        Entitlements {
            application_id: self.application_id,
            debuggable: self.debuggable,
            not_granted: self.names.into_iter().filter(lacks).take(MAX_NAMED).collect(),
        }
    }
}

/// Whether a profile must grant an entitlement. Others need no permission, or their rules are not known here.
fn is_restricted(name: &str) -> bool {
    let is_developers = |rest: &str| rest.starts_with('.');
    name.strip_prefix("com.apple.developer").is_some_and(is_developers) || name == "aps-environment"
}
