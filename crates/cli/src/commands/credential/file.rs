//! The file of a credential: its kind, the values in its name, and its content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use launchway_api::secret::SecretText;
use launchway_domain::credential::CredentialKind;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Keystores and profiles have some KiB; the server accepts no more than this.
const LARGEST: u64 = 1 << 20;

/// The kind of credential that a file of this name contains.
pub fn kind(path: &Path) -> Result<CredentialKind, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "jks" | "keystore" | "ks" => Ok(CredentialKind::AndroidKeystore),
        "p8" => Ok(CredentialKind::AppStoreConnectKey),
        "json" => Ok(CredentialKind::GoogleServiceAccount),
        "mobileprovision" | "provisionprofile" => Ok(CredentialKind::ProvisioningProfile),
        // Android keystores may have this format too, but seldom this name.
        "p12" | "pfx" => Ok(CredentialKind::AppleCertificate),
        _ => Err(Failure::usage(format!(
            "cannot tell the kind of credential from the name {}",
            path.display()
        ))
        .hint("give --kind; `launchway credential add --help` lists the kinds")),
    }
}

/// The id in the name that Apple gives to an App Store Connect key: `AuthKey_2X9R4HXF34.p8`.
pub fn key_id(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    name.strip_prefix("AuthKey_").map(str::to_owned)
}

/// The content in base64.
pub fn content(path: &Path) -> Result<SecretText, Failure> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| Failure::usage(format!("cannot read {shown}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        0 => Err(Failure::usage(format!("{shown} is empty"))),
        size if size > LARGEST => Err(Failure::usage(format!("{shown} is too large to be a credential"))),
        _ => Ok(SecretText::new(BASE64_STANDARD.encode(&*bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_kind() {
        let rows = [
            ("upload.JKS", CredentialKind::AndroidKeystore),
            ("debug.keystore", CredentialKind::AndroidKeystore),
            ("AuthKey_2X9R4HXF34.p8", CredentialKind::AppStoreConnectKey),
            ("play.json", CredentialKind::GoogleServiceAccount),
            ("App.mobileprovision", CredentialKind::ProvisioningProfile),
            ("dist.p12", CredentialKind::AppleCertificate),
        ];
        for (name, expected) in rows {
            assert_eq!(kind(Path::new(name)).expect(name), expected, "{name}");
        }
        kind(Path::new("secret")).expect_err("no ending");
        assert_eq!(
            key_id(Path::new("x/AuthKey_2X9R4HXF34.p8")).as_deref(),
            Some("2X9R4HXF34")
        );
        assert_eq!(key_id(Path::new("key.p8")), None);
    }
}
