//! Why a credential is refused, in words for the user: what is wrong, and what to do. Nothing secret is quoted.

use launchway_domain::time::{EpochMs, iso};

use crate::Kind;

/// Why a credential is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Nothing was given.
    #[error("The file is empty. Upload the original file.")]
    Empty,
    /// More than [`crate::MAX_SIZE`].
    #[error("The file is larger than 1 MiB, and no credential is. Upload the credential alone.")]
    TooLarge,
    /// Not whole, or changed by accident.
    #[error("The {} is truncated or damaged. Upload the original file again.", kind.title())]
    Damaged {
        /// What it is.
        kind: Kind,
    },
    /// A file of another form.
    #[error("This is {found}, not {}.", one(*kind))]
    AnotherKind {
        /// What it must be.
        kind: Kind,
        /// What it is, with its article.
        found: &'static str,
    },
    /// A file of no form that is known here.
    #[error("This is not {}. Check that it is the right file.", one(*kind))]
    Unrecognized {
        /// What it must be.
        kind: Kind,
    },
    /// A format of keystores that builds cannot use everywhere.
    #[error(
        "This is {found}, which is not supported. Convert it: keytool -importkeystore -srckeystore FILE \
         -destkeystore release.p12 -deststoretype PKCS12"
    )]
    KeystoreFormat {
        /// What it is, with its article.
        found: &'static str,
    },
    /// A certificate came alone.
    #[error(
        "This is a certificate without its private key. In Keychain Access, export it together with its private key \
         as a .p12 file, and upload that."
    )]
    CertificateAlone,
    /// The password does not open the file.
    #[error("The password is wrong: it does not open the {}.", kind.title())]
    WrongPassword {
        /// What it is.
        kind: Kind,
    },
    /// The file needs a password, and none was given.
    #[error("The {} is protected by a password: give it as password.", kind.title())]
    PasswordMissing {
        /// What it is.
        kind: Kind,
    },
    /// The key's own password does not open the key.
    #[error(
        "The key password is wrong: it does not open the key '{}'.{}",
        shown(alias),
        if *opens_by_store { " The keystore's password opens it: leave the key password out." } else { "" }
    )]
    WrongKeyPassword {
        /// The name of the key.
        alias: String,
        /// Whether the keystore's password would.
        opens_by_store: bool,
    },
    /// The key has another password than the keystore, and none was given.
    #[error("The key '{}' has a password of its own: give it as keyPassword.", shown(alias))]
    KeyPasswordMissing {
        /// The name of the key.
        alias: String,
    },
    /// Only certificates.
    #[error("The {} holds no private key. Export it again together with the private key.", kind.title())]
    NoPrivateKey {
        /// What it is.
        kind: Kind,
    },
    /// Which private key is meant is not said.
    #[error("The {} holds several private keys: name one as alias ({}).", kind.title(), listed(aliases))]
    SeveralKeys {
        /// What it is.
        kind: Kind,
        /// The names of all.
        aliases: Vec<String>,
    },
    /// No private key has the name that was given.
    #[error("The {} holds no private key with the alias '{}', only: {}.", kind.title(), shown(alias), listed(aliases))]
    UnknownAlias {
        /// What it is.
        kind: Kind,
        /// The name that was given.
        alias: String,
        /// The names of all.
        aliases: Vec<String>,
    },
    /// A private key without a certificate.
    #[error("The private key '{}' of the {} has no certificate. Export both together.", shown(alias), kind.title())]
    NoCertificate {
        /// What it is.
        kind: Kind,
        /// The name of the key.
        alias: String,
    },
    /// The certificate holds another public key than the private key's.
    #[error(
        "The private key '{}' of the {} does not belong to its certificate. Export both together.",
        shown(alias),
        kind.title()
    )]
    ForeignCertificate {
        /// What it is.
        kind: Kind,
        /// The name of the key.
        alias: String,
    },
    /// Its time is over.
    #[error("The {} expired on {}. Upload one that is still valid.", kind.title(), day(*at))]
    Expired {
        /// What it is.
        kind: Kind,
        /// When.
        at: EpochMs,
    },
    /// Its time has not come.
    #[error("The {} is not valid before {}. Upload one that is valid now.", kind.title(), day(*at))]
    NotYetValid {
        /// What it is.
        kind: Kind,
        /// From when on it is.
        at: EpochMs,
    },
    /// Made with an algorithm that is not read here.
    #[error("The {} uses {algorithm}, which is not supported. {}", kind.title(), renew(*kind))]
    Unsupported {
        /// What it is.
        kind: Kind,
        /// The name of the algorithm.
        algorithm: String,
    },
    /// Deriving keys from the password would take too long.
    #[error("The {} asks for more than 10,000,000 rounds of password derivation. {}", kind.title(), renew(*kind))]
    TooManyIterations {
        /// What it is.
        kind: Kind,
    },
    /// A certificate that does not sign apps.
    #[error(
        "The certificate '{}' is not an Apple Development or Apple Distribution certificate. Create one of these on \
         Apple's developer site.",
        shown(name)
    )]
    NotForSigning {
        /// Who the certificate is for.
        name: String,
    },
    /// The signature does not fit.
    #[error("The provisioning profile was changed after it was signed. Download it again from Apple's developer site.")]
    Changed,
    /// A profile for another app.
    #[error(
        "The provisioning profile is for {}, which does not cover {}. Upload a profile for this app.",
        shown(app_id),
        shown(bundle_id)
    )]
    ForeignBundleId {
        /// What the profile is for.
        app_id: String,
        /// What was asked for.
        bundle_id: String,
    },
    /// Something that every credential of the kind has.
    #[error("The {} has no {field}. {}", kind.title(), renew(*kind))]
    FieldMissing {
        /// What it is.
        kind: Kind,
        /// What is missing.
        field: &'static str,
    },
    /// Something in the file has another form than it must have.
    #[error("The {field} of the {} must be {form}. {}", kind.title(), renew(*kind))]
    FieldMalformed {
        /// What it is.
        kind: Kind,
        /// What is wrong.
        field: &'static str,
        /// What it must be.
        form: &'static str,
    },
    /// Endless names and lists.
    #[error("The {} holds names of more than 64 KiB in all. {}", kind.title(), renew(*kind))]
    TooMuchText {
        /// What it is.
        kind: Kind,
    },
    /// The key of an App Store Connect key is not on the curve that Apple uses.
    #[error(
        "The App Store Connect key must be an EC key on the curve P-256. Upload the .p8 file from App Store Connect."
    )]
    NotP256,
    /// The id of an App Store Connect key was not given.
    #[error("keyId is required: App Store Connect shows it beside the key.")]
    KeyIdMissing,
    /// The id of an App Store Connect key has another form.
    #[error("keyId must be 10 upper-case letters and digits, as App Store Connect shows it.")]
    KeyIdMalformed,
    /// The issuer id of an App Store Connect key has another form.
    #[error("issuerId must be a UUID, as App Store Connect shows it; an individual key has none.")]
    IssuerIdMalformed,
}

/// Names shown at most in one message.
const MOST_NAMES: usize = 20;
/// Characters shown at most of one text of the file or the caller.
const MOST_LETTERS: usize = 100;

/// Where a sound one comes from.
fn renew(kind: Kind) -> &'static str {
    match kind {
        Kind::AppStoreConnectKey => "Create a new key in App Store Connect.",
        Kind::GoogleServiceAccount => "Create a new JSON key in the Google Cloud console.",
        Kind::AndroidKeystore => "Export it again as PKCS#12 with a current keytool.",
        Kind::AppleCertificate => "Export it again from Keychain Access, or with a current OpenSSL.",
        Kind::ProvisioningProfile => "Download it again from Apple's developer site.",
    }
}

/// A text of the file or the caller: no control characters, and not endless.
fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let safe = |letter: char| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    };
    let mut shown: String = letters.by_ref().take(MOST_LETTERS).map(safe).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The title of a kind after "a" or "an", with the files it comes in.
fn one(kind: Kind) -> &'static str {
    match kind {
        Kind::AppStoreConnectKey => "an App Store Connect key (.p8)",
        Kind::GoogleServiceAccount => "a Google service account key (JSON)",
        Kind::AndroidKeystore => "an Android keystore (JKS or PKCS#12)",
        Kind::AppleCertificate => "an Apple certificate with its private key (.p12)",
        Kind::ProvisioningProfile => "a provisioning profile",
    }
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<_> = names.iter().take(MOST_NAMES).map(|name| shown(name)).collect();
    if let Some(more @ 1..) = names.len().checked_sub(MOST_NAMES) {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// The day of a time, in UTC.
fn day(at: EpochMs) -> String {
    iso(at).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_file_are_shown_without_harm() {
        assert_eq!(shown("a\nb\u{1b}[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(shown(&"ä".repeat(101)), format!("{}…", "ä".repeat(100)));
        let names: Vec<_> = (1..=22).map(|name| name.to_string()).collect();
        assert!(listed(&names).ends_with("19, 20, and 2 more"));
        assert_eq!(listed(&names[..20]).split(", ").count(), 20);
    }
}
