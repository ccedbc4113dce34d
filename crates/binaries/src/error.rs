//! Why a binary is refused. The messages tell the user what is wrong and what to do.

use std::io;

/// Why a binary is refused.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// Not a ZIP archive, or one without an app.
    #[error("The file is not an APK, AAB or IPA. Use the app from the build.")]
    NotAnApp,
    /// An APK set, as `bundletool build-apks` creates it.
    #[error("The file is a set of APKs. Use the AAB that it was created from, or a universal APK.")]
    ApkSet,
    /// An Android library (AAR).
    #[error("The file is an Android library (AAR), not an app. Use the APK or AAB of the app.")]
    Library,
    /// A mandatory part of the format is missing.
    #[error("The {format} has no {part}. Build the app again.")]
    Missing {
        /// `APK`, `AAB` or `IPA`.
        format: &'static str,
        /// The path inside the archive.
        part: &'static str,
    },
    /// The end of the archive, or what it points at, is missing.
    #[error("The file is truncated or damaged. Upload it again, or build the app again.")]
    DamagedArchive,
    /// A part is corrupt.
    #[error("{part} in the file is truncated or damaged. Build the app again.")]
    Damaged {
        /// The name of the part.
        part: &'static str,
    },
    /// A part has an unsupported compression.
    #[error("{part} in the file is encrypted, or compressed with an unsupported method. Build the app again.")]
    Packing {
        /// The name of the part.
        part: &'static str,
    },
    /// A part is larger than in any real app.
    #[error("{part} in the file has more than {limit} bytes. Build the app again.")]
    TooLarge {
        /// The name of the part.
        part: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// A part exists twice, and readers differ in which one they use.
    #[error("The file contains {part} more than once. Build the app again.")]
    Ambiguous {
        /// The name of the part.
        part: &'static str,
    },
    /// There are several folders `*.app` in `Payload`.
    #[error("The IPA has several apps in Payload. Export each app separately.")]
    SeveralApps,
    /// A mandatory field is missing.
    #[error("{part} in the file has no {field}. Build the app again.")]
    FieldMissing {
        /// The part that must contain the field.
        part: &'static str,
        /// The name of the field.
        field: &'static str,
    },
    /// The file could not be read, through no fault of the binary.
    #[error("Cannot read the file: {0}")]
    Unreadable(#[from] io::Error),
}
