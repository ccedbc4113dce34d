//! Apple's provisioning profiles: a signed property list that binds apps, devices and certificates together.

use std::time::{SystemTime, UNIX_EPOCH};

use launchway_domain::time::EpochMs;
use plist::{Dictionary, Value};

use crate::Kind;
use crate::apple_certificate::is_team_id;
use crate::certificate::{check_time, fingerprint};
use crate::cms::{self, Outcome, Signed};
use crate::error::CredentialError;
use crate::facts::{Details, Facts, ProfileType, ProvisioningProfile};
use crate::parse_error::ParseError;
use crate::property_list::read_xml_dictionary;
use crate::recognize::{Form, form_of};
use crate::{CredentialInput, format_error, given_text};

const KIND: Kind = Kind::ProvisioningProfile;
const APPLE_ROOTS: [&str; 3] = ["Apple Root CA", "Apple Root CA - G2", "Apple Root CA - G3"];

pub(crate) fn read(given: &CredentialInput<'_>, now: EpochMs) -> Result<Facts, CredentialError> {
    let facts = read_ignoring_validity(given.content)?;
    if let (Details::ProvisioningProfile(profile), Some(expires_at)) = (&facts.details, facts.expires_at) {
        check_time(KIND, profile.created_at.unwrap_or(EpochMs::MIN), expires_at, now)?;
        if let Some(bundle_id) = given_text(given.bundle_id)
            && !covers(&profile.bundle_id_pattern, bundle_id)
        {
            let (app_id, bundle_id) = (profile.app_id.clone(), bundle_id.to_owned());
            return Err(CredentialError::ForeignBundleId { app_id, bundle_id });
        }
    }
    Ok(facts)
}

/// Parses a profile without checking its validity.
pub(crate) fn read_ignoring_validity(content: &[u8]) -> Result<Facts, CredentialError> {
    match form_of(content) {
        Some(Form::Signed) => {}
        form => return Err(format_error(KIND, form, content)),
    }
    let Signed {
        content: list,
        signer,
        root,
    } = match cms::read(content).map_err(|error| error.refuse(KIND))? {
        Outcome::Signed(signed) => signed,
        Outcome::Changed => return Err(CredentialError::Changed),
    };
    let list = List(read_xml_dictionary(&list).map_err(|error| ParseError::from(error).refuse(KIND))?);
    let expires_at = list.time("ExpirationDate").ok_or_else(|| missing("ExpirationDate"))?;
    let profile = list.profile(signer, root, list.time("CreationDate"))?;
    Ok(Facts {
        fingerprint: fingerprint(content),
        expires_at: Some(expires_at),
        details: Details::ProvisioningProfile(profile),
    })
}

/// Whether a pattern covers a bundle id, ignoring letter case as everywhere.
fn covers(pattern: &str, bundle_id: &str) -> bool {
    let (pattern, bundle_id) = (pattern.to_ascii_lowercase(), bundle_id.to_ascii_lowercase());
    match pattern.strip_suffix('*') {
        Some(start) => bundle_id.len() > start.len() && bundle_id.starts_with(start),
        None => pattern == bundle_id,
    }
}

fn missing(field: &'static str) -> CredentialError {
    CredentialError::FieldMissing { kind: KIND, field }
}

/// The property list of a profile.
struct List(Dictionary);

impl List {
    fn text(&self, field: &str) -> Option<String> {
        self.0.get(field).and_then(Value::as_string).map(ToOwned::to_owned)
    }

    fn required(&self, field: &'static str) -> Result<String, CredentialError> {
        self.text(field)
            .filter(|text| !text.is_empty())
            .ok_or_else(|| missing(field))
    }

    fn time(&self, field: &str) -> Option<EpochMs> {
        let time = SystemTime::from(self.0.get(field)?.as_date()?);
        let after = time
            .duration_since(UNIX_EPOCH)
            .map(|after| EpochMs::try_from(after.as_millis()));
        // A time before 1970 counts as expired.
        after.unwrap_or(Ok(0)).ok()
    }

    fn flag(&self, field: &str) -> bool {
        self.0.get(field).and_then(Value::as_boolean).unwrap_or(false)
    }

    fn items(&self, field: &str) -> &[Value] {
        self.0.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn texts(&self, field: &str) -> Vec<String> {
        self.items(field)
            .iter()
            .filter_map(Value::as_string)
            .map(ToOwned::to_owned)
            .collect()
    }

    fn profile(
        &self,
        signer: String,
        root: String,
        created_at: Option<EpochMs>,
    ) -> Result<ProvisioningProfile, CredentialError> {
        let entitlements = self.0.get("Entitlements").and_then(Value::as_dictionary);
        let entitlements = entitlements.ok_or_else(|| missing("Entitlements"))?;
        let entitled = |field: &str| entitlements.get(field).and_then(Value::as_string);
        // On macOS the name has a domain prefix.
        let app_id = entitled("application-identifier").or_else(|| entitled("com.apple.application-identifier"));
        let app_id = app_id.ok_or_else(|| missing("application-identifier"))?.to_owned();
        let (_, pattern) = app_id
            .split_once('.')
            .ok_or_else(|| missing("application-identifier"))?;
        let team_id = self
            .texts("TeamIdentifier")
            .into_iter()
            .next()
            .filter(|team| is_team_id(team));
        let mut names: Vec<_> = entitlements.keys().cloned().collect();
        names.sort();
        let may_debug = entitlements
            .get("get-task-allow")
            .and_then(Value::as_boolean)
            .unwrap_or(false);
        let devices = self.items("ProvisionedDevices");
        let profile_type = match (self.flag("ProvisionsAllDevices"), devices.is_empty(), may_debug) {
            (true, ..) => ProfileType::Enterprise,
            (_, _, true) => ProfileType::Development,
            (_, false, _) => ProfileType::AdHoc,
            _ => ProfileType::AppStore,
        };
        let certificates = self.items("DeveloperCertificates").iter().filter_map(Value::as_data);
        Ok(ProvisioningProfile {
            uuid: self.required("UUID")?,
            name: self.required("Name")?,
            team_id: team_id.ok_or_else(|| missing("TeamIdentifier"))?,
            team_name: self.text("TeamName"),
            bundle_id_pattern: pattern.to_owned(),
            app_id,
            platforms: self.texts("Platform"),
            profile_type,
            device_count: devices.len(),
            certificate_fingerprints: certificates.map(fingerprint).collect(),
            entitlements: names,
            signer,
            root_is_named_apple: APPLE_ROOTS.contains(&root.as_str()),
            root,
            created_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_bundle_ids() {
        for (pattern, bundle_id, expected) in [
            ("com.example.app", "com.example.app", true),
            ("com.Example.app", "com.example.App", true),
            ("com.example.app", "com.example.app2", false),
            ("com.example.app", "com.example", false),
            ("*", "com.example.app", true),
            ("com.example.*", "com.example.app", true),
            ("com.example.*", "com.example.", false),
            ("com.example.*", "com.examples.app", false),
        ] {
            assert_eq!(covers(pattern, bundle_id), expected, "{pattern} {bundle_id}");
        }
    }
}
