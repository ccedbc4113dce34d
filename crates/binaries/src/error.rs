//! Why a binary is refused, in words for the user: what is wrong, and what to do.

use std::io;

/// Why a binary is refused.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// No ZIP archive, or one of something else.
    #[error("The file is no APK, AAB or IPA. Give the app that the build made.")]
    NotAnApp,
    /// What `bundletool build-apks` makes.
    #[error("The file is a set of APKs. Give the AAB that it was made from, or one universal APK.")]
    ApkSet,
    /// An AAR.
    #[error("The file is an Android library (AAR), not an app. Give the APK or AAB of the app.")]
    Library,
    /// A part that every binary of its format has.
    #[error("The {format} holds no {part}. Build the app again.")]
    Missing {
        /// `APK`, `AAB` or `IPA`.
        format: &'static str,
        /// The path inside.
        part: &'static str,
    },
    /// The end of an archive, or what it points at, is not there.
    #[error("The file is truncated or damaged. Upload it again, or build the app again.")]
    DamagedArchive,
    /// A part that cannot be read.
    #[error("{part} in the file is truncated or damaged. Build the app again.")]
    Damaged {
        /// What it is.
        part: &'static str,
    },
    /// A part that is packed in an unusual way.
    #[error("{part} in the file is encrypted, or packed by a method that apps do not use. Build the app again.")]
    Packing {
        /// What it is.
        part: &'static str,
    },
    /// More than any app has.
    #[error("{part} in the file has more than {limit} bytes. Build the app again.")]
    TooLarge {
        /// What it is.
        part: &'static str,
        /// The most that is read.
        limit: u64,
    },
    /// Which of two counts differs from reader to reader.
    #[error("The file holds {part} more than once. Build the app again.")]
    Ambiguous {
        /// What it is.
        part: &'static str,
    },
    /// Several folders `*.app` in `Payload`.
    #[error("The IPA holds several apps in Payload. Export each app alone.")]
    SeveralApps,
    /// A text that every app has.
    #[error("{part} in the file has no {field}. Build the app again.")]
    FieldMissing {
        /// What should have it.
        part: &'static str,
        /// Its name.
        field: &'static str,
    },
    /// The file could not be read. That is no fault of the binary.
    #[error("The file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}
