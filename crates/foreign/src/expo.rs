//! Expo Updates, protocol versions 1 and 0 (`docs/reference/expo.md`): what `expo-updates` asks, and what it is answered.

mod accept;
mod asset;
mod choice;
mod directive;
mod export;
mod manifest;
mod packed;
mod request;
mod response;
mod signature;
mod signed_release;
mod stored;
pub mod structured;

pub use accept::Form;
pub use asset::{ASSET_HEADERS, ASSET_PATH, content_type};
pub use choice::{Choice, Running, choose, reissued};
pub use directive::{Directive, DirectiveError, RollBack};
pub use export::{Export, ExportError, ExportedFile, MAX_METADATA_BYTES, METADATA_FILE, source_map_of};
pub use manifest::{Asset, MAX_ASSETS, MAX_MANIFEST_BYTES, Manifest, ManifestError, UNDO_SPAN};
pub use packed::{CONFIG_FILE, Issue, MAX_CONFIG_BYTES, MAX_EXPORT_BYTES, PackedExport, PackedFile};
pub use request::{AlgorithmWish, Protocol, Request, RequestError, SignatureWish};
pub use response::{Answer, Part, Refusal, Response, Served};
pub use signature::{Signature, SignatureError};
pub use signed_release::{Previous, SignedRelease, SigningError, created_at};
pub use stored::{StoredPart, StoredUndo};
