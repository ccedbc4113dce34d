//! Why a credential is refused. The messages tell the user what is wrong and what to do, and never contain secrets.

use launchway_domain::time::{EpochMs, date};

use crate::Kind;

/// Why a credential is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The content is empty.
    #[error("The file is empty. Upload the original file.")]
    Empty,
    /// The content is larger than [`crate::MAX_SIZE`].
    #[error("The file is larger than 1 MiB, the limit of a credential. Upload only the credential.")]
    TooLarge,
    /// The file is truncated or corrupt.
    #[error("The {} is truncated or damaged. Upload the original file again.", kind.title())]
    Damaged {
        /// The kind of credential.
        kind: Kind,
    },
    /// The file has the format of something else.
    #[error("This is {found}, not {}", with_article(*kind))]
    AnotherKind {
        /// The expected kind.
        kind: Kind,
        /// What the file is, with its article.
        found: &'static str,
    },
    /// The file has no known format.
    #[error("This is not {}. Check that it is the right file.", with_article(*kind))]
    Unrecognized {
        /// The expected kind.
        kind: Kind,
    },
    /// A keystore format that builds do not support everywhere.
    #[error(
        "This is {found}, which is not supported. Convert it: keytool -importkeystore -srckeystore FILE \
         -destkeystore release.p12 -deststoretype PKCS12"
    )]
    KeystoreFormat {
        /// The format, with its article.
        found: &'static str,
    },
    /// A certificate without its private key.
    #[error(
        "This is a certificate without its private key. In Keychain Access, export it together with its private key \
         as a .p12 file, and upload that."
    )]
    CertificateAlone,
    /// The password does not open the file.
    #[error("The password is wrong: it does not open the {}", kind.title())]
    WrongPassword {
        /// The kind of credential.
        kind: Kind,
    },
    /// The file needs a password, and none was given.
    #[error("The {} is protected by a password: send it as password", kind.title())]
    PasswordMissing {
        /// The kind of credential.
        kind: Kind,
    },
    /// The key's own password does not open the key.
    #[error(
        "The key password is wrong: it does not open the key `{}`.{}",
        printable(alias),
        if *opens_by_store { " The keystore's password opens it, so omit the key password." } else { "" }
    )]
    WrongKeyPassword {
        /// The name of the key.
        alias: String,
        /// Whether the keystore's password would open it.
        opens_by_store: bool,
    },
    /// The key has another password than the keystore, and none was given.
    #[error("The key `{}` has its own password: send it as keyPassword", printable(alias))]
    KeyPasswordMissing {
        /// The name of the key.
        alias: String,
    },
    /// The file contains only certificates.
    #[error("The {} has no private key. Export it again together with the private key.", kind.title())]
    NoPrivateKey {
        /// The kind of credential.
        kind: Kind,
    },
    /// The file has several private keys, and no alias was given.
    #[error("The {} has several private keys: choose one with alias ({})", kind.title(), listed(aliases))]
    SeveralKeys {
        /// The kind of credential.
        kind: Kind,
        /// The names of all keys.
        aliases: Vec<String>,
    },
    /// No private key has the given name.
    #[error("The {} has no private key with the alias `{}`, only: {}", kind.title(), printable(alias), listed(aliases))]
    UnknownAlias {
        /// The kind of credential.
        kind: Kind,
        /// The given name.
        alias: String,
        /// The names of all keys.
        aliases: Vec<String>,
    },
    /// A private key without a certificate.
    #[error("The private key `{}` of the {} has no certificate. Export both together.", printable(alias), kind.title())]
    NoCertificate {
        /// The kind of credential.
        kind: Kind,
        /// The name of the key.
        alias: String,
    },
    /// The certificate belongs to another private key.
    #[error(
        "The private key `{}` of the {} does not belong to its certificate. Export both together.",
        printable(alias),
        kind.title()
    )]
    ForeignCertificate {
        /// The kind of credential.
        kind: Kind,
        /// The name of the key.
        alias: String,
    },
    /// The validity has ended.
    #[error("The {} expired on {}. Upload one that is still valid.", kind.title(), date(*at))]
    Expired {
        /// The kind of credential.
        kind: Kind,
        /// When it ended.
        at: EpochMs,
    },
    /// The validity has not begun.
    #[error("The {} is not valid before {}. Upload one that is valid now.", kind.title(), date(*at))]
    NotYetValid {
        /// The kind of credential.
        kind: Kind,
        /// When it begins.
        at: EpochMs,
    },
    /// An algorithm is not supported.
    #[error("The {} uses {algorithm}, which is not supported. {}.", kind.title(), renew(*kind))]
    Unsupported {
        /// The kind of credential.
        kind: Kind,
        /// The name of the algorithm.
        algorithm: String,
    },
    /// Deriving keys from the password would take too long.
    #[error("The {} requires more than 10,000,000 rounds of password derivation. {}.", kind.title(), renew(*kind))]
    TooManyIterations {
        /// The kind of credential.
        kind: Kind,
    },
    /// The certificate does not sign apps.
    #[error(
        "The certificate `{}` is not an Apple Development or Apple Distribution certificate. Create one of these on \
         Apple's developer site.",
        printable(name)
    )]
    NotForSigning {
        /// The name in the certificate.
        name: String,
    },
    /// Content and signature do not match.
    #[error("The provisioning profile was changed after it was signed. Download it again from Apple's developer site.")]
    Changed,
    /// The profile is for another app.
    #[error(
        "The provisioning profile is for {}, which does not cover {}. Upload a profile for this app.",
        printable(app_id),
        printable(bundle_id)
    )]
    ForeignBundleId {
        /// The app id of the profile.
        app_id: String,
        /// The requested bundle id.
        bundle_id: String,
    },
    /// A mandatory field is missing.
    #[error("The {} has no {field}. {}.", kind.title(), renew(*kind))]
    FieldMissing {
        /// The kind of credential.
        kind: Kind,
        /// The name of the field.
        field: &'static str,
    },
    /// A field is malformed.
    #[error("The {field} of the {} must be {form}. {}.", kind.title(), renew(*kind))]
    FieldMalformed {
        /// The kind of credential.
        kind: Kind,
        /// The name of the field.
        field: &'static str,
        /// The required format.
        form: &'static str,
    },
    /// Names and lists exceed the size limit.
    #[error("The {} has more than 64 KiB of names. {}.", kind.title(), renew(*kind))]
    TooMuchText {
        /// The kind of credential.
        kind: Kind,
    },
    /// The App Store Connect key is not on the curve that Apple uses.
    #[error(
        "The App Store Connect key must be an EC key on the curve P-256. Upload the .p8 file from App Store Connect."
    )]
    NotP256,
    /// The id of an App Store Connect key is missing.
    #[error("keyId is required: App Store Connect shows it beside the key")]
    KeyIdMissing,
    /// The id of an App Store Connect key is malformed.
    #[error("keyId must be 10 upper-case letters and digits, as shown in App Store Connect")]
    KeyIdMalformed,
    /// The issuer id of an App Store Connect key is malformed.
    #[error("issuerId must be a UUID, as shown in App Store Connect; an individual key has none")]
    IssuerIdMalformed,
}

/// The maximum number of names in a message.
const MAX_NAMES: usize = 20;
/// The maximum length in characters of a text that a message quotes.
const MAX_LETTERS: usize = 100;

/// How to get a valid one.
fn renew(kind: Kind) -> &'static str {
    match kind {
        Kind::AppStoreConnectKey => "Create a new key in App Store Connect",
        Kind::GoogleServiceAccount => "Create a new JSON key in the Google Cloud console",
        Kind::AndroidKeystore => "Export it again as PKCS#12 with a current keytool",
        Kind::AppleCertificate => "Export it again from Keychain Access, or with a current OpenSSL",
        Kind::ProvisioningProfile => "Download it again from Apple's developer site",
    }
}

/// A text from the file or the caller, without control characters and shortened.
fn printable(text: &str) -> String {
    let mut letters = text.chars();
    let safe = |letter: char| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    };
    let mut shown: String = letters.by_ref().take(MAX_LETTERS).map(safe).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The display name of a kind after "a" or "an", with its file extensions.
fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::AppStoreConnectKey => "an App Store Connect key (.p8)",
        Kind::GoogleServiceAccount => "a Google service account key (JSON)",
        Kind::AndroidKeystore => "an Android keystore (JKS or PKCS#12)",
        Kind::AppleCertificate => "an Apple certificate with its private key (.p12)",
        Kind::ProvisioningProfile => "a provisioning profile",
    }
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<_> = names.iter().take(MAX_NAMES).map(|name| printable(name)).collect();
    if let Some(more @ 1..) = names.len().checked_sub(MAX_NAMES) {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_file_are_shown_without_harm() {
        assert_eq!(printable("a\nb\u{1b}[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(printable(&"ä".repeat(101)), format!("{}…", "ä".repeat(100)));
        let names: Vec<_> = (1..=22).map(|name| name.to_string()).collect();
        assert!(listed(&names).ends_with("19, 20, and 2 more"));
        assert_eq!(listed(&names[..20]).split(", ").count(), 20);
    }
}
