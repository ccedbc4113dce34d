//! The error of a submission: `code`, `message`, `fix`, `retryable` (`docs/reference/submissions.md#errors-of-a-submission`).
//! One table for all codes.

/// An error as the record shows it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SubmissionError {
    /// The kind of error.
    pub code: SubmissionErrorCode,
    /// What is wrong, with the app store's own words if there are any. Never contains a secret.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// Whether the same submission can succeed if it is retried unchanged.
    pub retryable: bool,
}

impl SubmissionError {
    /// Makes an error with the fix of its code.
    pub fn new(code: SubmissionErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            fix: code.fix().to_owned(),
            retryable: code.is_retryable(),
        }
    }
}

/// Declares the enum and its table: the word, whether a retry can help, and the fix.
macro_rules! codes {
    ($($(#[$note:meta])* $variant:ident = $word:literal, $retryable:literal, $fix:literal;)+) => {
        words! {
            /// Why a submission failed or was rejected.
            SubmissionErrorCode, error = "must be one of a code of the table in docs/submissions.md",
            $($(#[$note])* $variant = $word,)+
        }

        impl SubmissionErrorCode {
            /// What to do about it.
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)+ }
            }

            /// Whether the same submission can succeed if it is retried unchanged, possibly after something outside of it
            /// was fixed.
            pub const fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)+ }
            }
        }
    };
}

codes! {
    /// The binary does not have the format that the app store requires.
    WrongFormat = "WRONG_FORMAT", false,
        "Submit an .ipa to the App Store, or an .aab or .apk to Google Play";
    /// The binary is of another app.
    BundleIdMismatch = "BUNDLE_ID_MISMATCH", false,
        "Build the app with the bundle id of the submission, or submit it under its own bundle id";
    /// The binary is made for another platform.
    PlatformMismatch = "PLATFORM_MISMATCH", false, "Submit a binary that is built for the platform";
    /// The binary has another version.
    VersionMismatch = "VERSION_MISMATCH", false,
        "Build the app with the requested version, or omit the version from the request";
    /// The binary has another build number.
    BuildNumberMismatch = "BUILD_NUMBER_MISMATCH", false,
        "Build the app with the requested build number, or omit it from the request";
    /// The form of the binary's version or build number is not one that the app store accepts.
    VersionMalformed = "VERSION_MALFORMED", false,
        "Use one to three whole numbers with dots for an Apple version, and a whole number from 1 to 2100000000 for \
         an Android version code";
    /// The app store has a higher version.
    VersionNotNewer = "VERSION_NOT_NEWER", false, "Raise the version, build again and submit the new build";
    /// The app store already has a binary with that build number.
    BuildNumberUsed = "BUILD_NUMBER_USED", false,
        "Raise the build number (buildNumber \"auto\" does this), build again and submit the new build";
    /// A debugger may attach to the app.
    Debuggable = "DEBUGGABLE", false, "Build with buildType release";
    /// It is built for a simulator.
    SimulatorBuild = "SIMULATOR_BUILD", false, "Build for devices, with distribution store";
    /// It targets an Android version that is too old.
    TargetSdkTooLow = "TARGET_SDK_TOO_LOW", false, "Raise targetSdkVersion, build again and submit the new build";
    /// It was built with a version of Apple's SDK that is too old.
    SdkTooOld = "SDK_TOO_OLD", false, "Build with a newer version of Xcode and submit the new build";
    /// It has no app icon.
    IconMissing = "ICON_MISSING", false, "Add an app icon to the app's asset catalog, build again and submit the new build";
    /// It uses a protected API without a purpose string.
    PurposeStringMissing = "PURPOSE_STRING_MISSING", false, "Add the missing keys to the app's Info.plist, each with a sentence for the user";
    /// It lacks code for an architecture that the app store requires.
    ArchitectureMissing = "ARCHITECTURE_MISSING", false,
        "Build the native libraries for arm64 as well, and for the 64-bit counterpart of every 32-bit architecture";
    /// It is not signed.
    Unsigned = "UNSIGNED", false, "Sign the build: add an Android keystore or an Apple certificate and profile to \
                                   the credentials";
    /// It is signed with a key other than the one the app store knows.
    SignatureMismatch = "SIGNATURE_MISMATCH", false,
        "Sign with the upload key of this app, or request a key reset in the Play Console";
    /// Its certificate has expired.
    CertificateExpired = "CERTIFICATE_EXPIRED", false, "Create a new certificate, add it to the credentials and \
                                                        build again";
    /// Its provisioning profile is not for an app store.
    ProfileUnfit = "PROFILE_UNFIT", false, "Build with an App Store provisioning profile that covers the bundle id";
    /// It exceeds the app store's size limit.
    TooLarge = "TOO_LARGE", false, "Make the binary smaller: compress assets, or let the store deliver them separately";
    /// The binary changed while it was submitted, or cannot be read.
    BinaryUnreadable = "BINARY_UNREADABLE", true, "Retry. If it happens again, build again and submit the new build.";
    /// The app store does not accept the credential.
    CredentialInvalid = "CREDENTIAL_INVALID", true, "Check in the store's console that the key is active and its ids \
                                                     are correct, then replace the credential";
    /// The app store does not allow this with the credential.
    CredentialForbidden = "CREDENTIAL_FORBIDDEN", true, "Give the key the role App Manager (App Store Connect), or \
                                                         release permissions for this app (Play Console)";
    /// An agreement with the app store has not been accepted.
    AgreementMissing = "AGREEMENT_MISSING", true, "Have the account holder accept the agreements in the store's \
                                                   console, then retry";
    /// The app store does not know the app.
    AppNotFound = "APP_NOT_FOUND", true, "Create the app with this bundle id in the store's console (for Google \
                                          Play, also upload its first build there), then retry";
    /// The app store does not know the track.
    TrackNotFound = "TRACK_NOT_FOUND", true, "Create the track in the Play Console, or choose another one";
    /// The app store does not know the group of testers.
    GroupNotFound = "GROUP_NOT_FOUND", true, "Create the group in TestFlight, or choose another one";
    /// The app store rejected the binary during processing.
    ProcessingFailed = "PROCESSING_FAILED", false, "Fix the problem that the store reports, build again with a \
                                                    higher build number and submit the new build";
    /// The app store has processed the binary for too long.
    ProcessingStuck = "PROCESSING_STUCK", true, "Check the store's console. If nothing progresses there, build again \
                                                 with a higher build number.";
    /// The export compliance question about cryptography has not been answered.
    ExportComplianceMissing = "EXPORT_COMPLIANCE_MISSING", true,
        "Set ITSAppUsesNonExemptEncryption in Info.plist, or submit with options.usesNonExemptEncryption, or answer \
         the question in App Store Connect. Then retry.";
    /// The app store requires more metadata of the app.
    MetadataMissing = "METADATA_MISSING", true, "Fill in the missing data in the store's console, then retry";
    /// That version is already released.
    VersionLive = "VERSION_LIVE", false, "Raise the version, build again and submit the new build";
    /// Another change of the app is in review, and must not be canceled.
    ReviewInProgress = "REVIEW_IN_PROGRESS", true, "Wait until that review ends, or cancel it in the store's \
                                                    console. Then retry.";
    /// The app store's review refused it.
    Rejected = "REJECTED", true, "Read the store's message in its console and reply there. Then retry, or submit a \
                                  fixed build.";
    /// The app has never been released.
    DraftApp = "DRAFT_APP", true, "Finish the setup of the app in the Play Console, or submit with options.draft";
    /// The app store requires the review to be requested manually.
    ReviewByHand = "REVIEW_BY_HAND", true, "Submit with options.changesNotSentForReview, then send the changes for \
                                            review in the Play Console";
    /// The app store sends changes to review automatically.
    ReviewAutomatic = "REVIEW_AUTOMATIC", true, "Submit without options.changesNotSentForReview";
    /// Others changed the same thing concurrently, again and again.
    Conflict = "CONFLICT", true, "Make sure that nobody else releases this app at the same time, then retry";
    /// The app store refuses further calls for now.
    RateLimited = "RATE_LIMITED", true, "Wait an hour, then retry";
    /// The app store does not answer, or its answers are invalid.
    StoreUnavailable = "STORE_UNAVAILABLE", true, "Check the store's status page, then retry";
    /// The app store refuses, with a message that is not known here.
    StoreRefused = "STORE_REFUSED", true, "Follow the store's instructions, then retry";
}

impl SubmissionErrorCode {
    /// The code under which a node of the release 0.1.0 reads the error.
    pub const fn for_older_nodes(self) -> Self {
        match self {
            Self::SdkTooOld | Self::IconMissing => Self::ProcessingFailed,
            known => known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_docs_have_every_code_with_its_fix() {
        let docs = include_str!("../../../../docs/submissions.md");
        for code in SubmissionErrorCode::ALL {
            let retryable = if code.is_retryable() { "yes" } else { "no" };
            let row = docs.lines().find(|line| line.starts_with(&format!("| `{code}` |")));
            let row = row.unwrap_or_else(|| panic!("{code} is not in docs/submissions.md"));
            assert!(row.ends_with(&format!("| {} | {retryable} |", code.fix())), "{row}");
        }
    }

    #[test]
    fn every_code_has_its_own_word_and_a_sentence_with_a_fix() {
        let mut words = HashSet::new();
        for code in SubmissionErrorCode::ALL {
            let word = code.as_str();
            assert!(words.insert(word), "{word} stands twice");
            assert!(
                word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'),
                "{word}"
            );
            let fix = code.fix();
            assert!(
                fix.len() > 10 && fix.ends_with('.') == fix.contains(". "),
                "{word}: {fix}"
            );
            assert_eq!(word.parse(), Ok(code));
        }
    }
}
