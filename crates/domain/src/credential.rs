//! Credentials for signing and for the app stores: the record, when to warn of expiry, and which ones a build receives
//! (`docs/reference/submissions.md#credentials`).

use std::cmp::Reverse;

use serde_json::Value;

use crate::build::{BuildType, Distribution};
use crate::bundle_id::BundleId;
use crate::id::{CredentialId, OrgId};
use crate::platform::Platform;
use crate::time::{DAY, EpochMs};

/// The maximum number of credentials of an organization.
pub const MAX_CREDENTIALS: i64 = 200;
/// Days before expiry at which an organization is notified.
pub const NOTICES: [i64; 2] = [30, 7];

words! {
    /// What a credential is for.
    CredentialKind,
    error = "must be app_store_connect_key, google_service_account, android_keystore, apple_certificate or provisioning_profile",
    /// Calls the App Store Connect API.
    AppStoreConnectKey = "app_store_connect_key",
    /// Calls the Google Play Developer API.
    GoogleServiceAccount = "google_service_account",
    /// Signs Android apps.
    AndroidKeystore = "android_keystore",
    /// Signs apps for Apple's platforms.
    AppleCertificate = "apple_certificate",
    /// Specifies which apps, devices and certificates belong together on Apple's platforms.
    ProvisioningProfile = "provisioning_profile",
}

words! {
    /// Whether a credential can be used.
    CredentialStatus:
    /// Can be used.
    Active = "active",
    /// Has expired.
    Expired = "expired",
}

/// A credential without its secret part.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// `credential_…`.
    pub id: CredentialId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// The word of its [`CredentialKind`]. A newer node may have stored one that is unknown here.
    pub kind: String,
    /// Its display name.
    pub name: String,
    /// The app it is limited to; `None` for every app.
    pub bundle_id: Option<BundleId>,
    /// Lower-case hex SHA-256 of the part that identifies it.
    pub fingerprint: String,
    /// Metadata read from the file.
    pub facts: Value,
    /// When it expires.
    pub expires_at: Option<EpochMs>,
    /// The last expiry notice sent, in days before expiry.
    pub told_days: Option<i64>,
    /// The actor that added it, as text.
    pub created_by: String,
    /// When it was added.
    pub created_at: EpochMs,
}

impl CredentialKind {
    /// Its display name, to follow "the".
    pub const fn title(self) -> &'static str {
        match self {
            CredentialKind::AppStoreConnectKey => "App Store Connect key",
            CredentialKind::GoogleServiceAccount => "Google service account key",
            CredentialKind::AndroidKeystore => "Android keystore",
            CredentialKind::AppleCertificate => "Apple certificate",
            CredentialKind::ProvisioningProfile => "provisioning profile",
        }
    }
}

impl Credential {
    /// Whether it is of this kind.
    pub fn is(&self, kind: CredentialKind) -> bool {
        self.kind == kind.as_str()
    }

    /// Whether it can be used at `now`.
    pub fn status(&self, now: EpochMs) -> CredentialStatus {
        match self.expires_at {
            Some(end) if end <= now => CredentialStatus::Expired,
            _ => CredentialStatus::Active,
        }
    }

    /// The notice that is due at `now`, in days before expiry: the latest of [`NOTICES`] that has not been sent. An expired
    /// credential has none.
    pub fn due_notice(&self, now: EpochMs) -> Option<i64> {
        let left = self.expires_at? - now;
        if left <= 0 {
            return None;
        }
        let due = NOTICES.iter().copied().filter(|days| left <= days * DAY).min()?;
        self.told_days.is_none_or(|told| told > due).then_some(due)
    }
}

/// The properties of a build that decide which credentials it receives.
#[derive(Clone, Copy, Debug)]
pub struct Signing<'a> {
    /// Its app.
    pub bundle_id: &'a BundleId,
    /// Its platform.
    pub platform: Platform,
    /// Its variant.
    pub build_type: BuildType,
    /// Its distribution.
    pub distribution: Distribution,
}

/// The credentials that a build receives: only those needed to sign it, none expired, and none of another app.
///
/// - Android: a release receives one keystore, the app's own before a general one, and the newest of several. A debug build
///   is signed with a key that its tools generate.
/// - Apple: a build for a simulator is not signed. Other builds receive certificates and provisioning profiles for their
///   distribution: the profiles of the app, of its extensions (`….widget`) and wildcard profiles. If no profile matches, the
///   build receives an App Store Connect key, so that its tools can create one.
pub fn for_build<'c>(credentials: &'c [Credential], build: &Signing<'_>, now: EpochMs) -> Vec<&'c Credential> {
    let mut fitting: Vec<&Credential> = credentials
        .iter()
        .filter(|one| one.status(now) == CredentialStatus::Active)
        .filter(|one| one.bundle_id.as_ref().is_none_or(|bundle| bundle == build.bundle_id))
        .collect();
    // The app's own before general ones, then the newest.
    fitting.sort_by_key(|one| (one.bundle_id.is_none(), Reverse(one.id)));
    let of_kind = |kind: CredentialKind| {
        fitting
            .iter()
            .copied()
            .filter(move |one| one.is(kind))
            .collect::<Vec<_>>()
    };
    match build.platform {
        Platform::Android if build.build_type == BuildType::Debug => Vec::new(),
        Platform::Android => of_kind(CredentialKind::AndroidKeystore).into_iter().take(1).collect(),
        _ if build.distribution == Distribution::Simulator => Vec::new(),
        _ => {
            let (certificate_use, profile_types): (&str, &[&str]) = match build.distribution {
                Distribution::Development => ("development", &["development"]),
                Distribution::Internal => ("distribution", &["ad_hoc", "enterprise"]),
                _ => ("distribution", &["app_store"]),
            };
            let mut chosen = of_kind(CredentialKind::AppleCertificate);
            chosen.retain(|one| one.facts["certificateUse"] == certificate_use);
            let mut profiles = of_kind(CredentialKind::ProvisioningProfile);
            profiles.retain(|one| {
                let kind = one.facts["profileType"].as_str().unwrap_or_default();
                profile_types.contains(&kind) && covers(one, build)
            });
            if profiles.is_empty() {
                profiles = of_kind(CredentialKind::AppStoreConnectKey)
                    .into_iter()
                    .take(1)
                    .collect();
            }
            chosen.extend(profiles);
            chosen
        }
    }
}

/// Whether a provisioning profile matches the build's app, or an extension of it, on its platform.
fn covers(profile: &Credential, build: &Signing<'_>) -> bool {
    let bundle = build.bundle_id.as_str().to_ascii_lowercase();
    let pattern = profile.facts["bundleIdPattern"].as_str().unwrap_or_default();
    let pattern = pattern.to_ascii_lowercase();
    let app = match pattern.strip_suffix('*') {
        Some(start) => bundle.starts_with(start),
        None => pattern
            .strip_prefix(&bundle)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    };
    let names: &[&str] = match build.platform {
        Platform::Visionos => &["xrOS", "visionOS"],
        _ => &["iOS"],
    };
    let platforms = profile.facts["platforms"].as_array();
    let platform = platforms
        .is_none_or(|list| list.is_empty() || list.iter().any(|name| names.iter().any(|wanted| name == wanted)));
    app && platform
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn credential(number: u8, kind: &str, bundle: Option<&str>, facts: Value) -> Credential {
        Credential {
            id: CredentialId::new(0, [number; 10]),
            org_id: OrgId::new(0, [0; 10]),
            kind: kind.to_owned(),
            name: String::new(),
            bundle_id: bundle.map(|text| text.parse().expect("a bundle id")),
            fingerprint: String::new(),
            facts,
            expires_at: None,
            told_days: None,
            created_by: String::new(),
            created_at: 0,
        }
    }

    fn chosen(all: &[Credential], platform: Platform, build_type: BuildType, distribution: Distribution) -> Vec<u8> {
        let bundle_id: BundleId = "com.Example.app".parse().expect("a bundle id");
        let build = Signing {
            bundle_id: &bundle_id,
            platform,
            build_type,
            distribution,
        };
        let of = |one: &&Credential| (1..=u8::MAX).find(|number| one.id == CredentialId::new(0, [*number; 10]));
        for_build(all, &build, 1).iter().filter_map(of).collect()
    }

    #[test]
    fn an_android_release_gets_one_keystore() {
        let ended = Credential {
            expires_at: Some(1),
            ..credential(9, "android_keystore", None, Value::Null)
        };
        let mut all = vec![
            ended,
            credential(8, "android_keystore", Some("com.example.other"), Value::Null),
            credential(7, "google_service_account", None, Value::Null),
            credential(1, "android_keystore", None, Value::Null),
            credential(2, "android_keystore", None, Value::Null),
        ];
        use {BuildType::*, Distribution::*};
        assert_eq!(chosen(&all, Platform::Android, Release, Store), [2]);
        all.push(credential(3, "android_keystore", Some("com.example.APP"), Value::Null));
        assert_eq!(chosen(&all, Platform::Android, Release, Internal), [3]);
        assert_eq!(chosen(&all, Platform::Android, Debug, Internal), Vec::<u8>::new());
    }

    #[test]
    fn an_apple_build_gets_what_signs_it_for_its_way() {
        let certificate =
            |number, of: &str| credential(number, "apple_certificate", None, json!({"certificateUse": of}));
        let profile = |number, of: &str, pattern: &str, platform: &str| {
            let facts = json!({"profileType": of, "bundleIdPattern": pattern, "platforms": [platform]});
            credential(number, "provisioning_profile", None, facts)
        };
        let all = [
            certificate(1, "distribution"),
            certificate(2, "development"),
            profile(3, "app_store", "com.example.app", "iOS"),
            profile(4, "app_store", "com.example.app.widget", "iOS"),
            profile(5, "app_store", "com.example.apple", "iOS"),
            profile(6, "ad_hoc", "com.example.*", "iOS"),
            profile(7, "enterprise", "*", "iOS"),
            profile(8, "development", "com.example.app", "xrOS"),
            credential(9, "app_store_connect_key", None, Value::Null),
            credential(10, "android_keystore", None, Value::Null),
        ];
        use {BuildType::*, Distribution::*};
        assert_eq!(chosen(&all, Platform::Ios, Release, Store), [1, 4, 3]);
        assert_eq!(chosen(&all, Platform::Ios, Release, Internal), [1, 7, 6]);
        assert_eq!(chosen(&all, Platform::Ios, Debug, Development), [2, 9]);
        assert_eq!(chosen(&all, Platform::Visionos, Debug, Development), [2, 8]);
        assert_eq!(chosen(&all, Platform::Visionos, Release, Store), [1, 9]);
        assert_eq!(chosen(&all, Platform::Ios, Debug, Simulator), Vec::<u8>::new());
    }

    #[test]
    fn each_notice_is_due_once() {
        const END: EpochMs = 2_000_000_000_000;
        let due = |told_days: Option<i64>, left: EpochMs| {
            let credential = Credential {
                id: CredentialId::new(0, [0; 10]),
                org_id: OrgId::new(0, [0; 10]),
                kind: "apple_certificate".to_owned(),
                name: String::new(),
                bundle_id: None,
                fingerprint: String::new(),
                facts: Value::Null,
                expires_at: Some(END),
                told_days,
                created_by: String::new(),
                created_at: 0,
            };
            credential.due_notice(END - left)
        };
        let cases = [
            (None, 31 * DAY, None),
            (None, 30 * DAY + 1, None),
            (None, 30 * DAY, Some(30)),
            (Some(30), 29 * DAY, None),
            (Some(30), 7 * DAY + 1, None),
            (Some(30), 7 * DAY, Some(7)),
            (None, 3 * DAY, Some(7)),
            (Some(7), 1, None),
            (None, 0, None),
            (None, -1, None),
        ];
        for (told, left, expected) in cases {
            assert_eq!(due(told, left), expected, "{told:?} {left}");
        }
    }
}
