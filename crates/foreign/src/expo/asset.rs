//! Assets: files by hash, at an address that never changes (`docs/reference/expo.md#assets`).

use std::fmt::Write as _;

/// The path of assets below the app's address, before the hash.
pub const ASSET_PATH: &str = "assets/";

/// The headers of every answer at the address of an asset, beside those of any file.
pub const ASSET_HEADERS: [(&str, &str); 2] = [("expo-protocol-version", "1"), ("expo-sfv-version", "0")];

/// The address of an asset of an app: `{asset base}/expo/{bundle id}/assets/{SHA-256 in hexadecimal}`.
pub(super) fn url(asset_base: &str, bundle_id: &str, sha256: &[u8; 32]) -> String {
    let mut url = format!("{asset_base}/expo/{bundle_id}/{ASSET_PATH}");
    for byte in sha256 {
        // Writing to a text does not fail.
        let _ = write!(url, "{byte:02x}");
    }
    url
}

/// The content type of a file with this extension, without a dot and in any case. The client stores files under their own
/// extension, so the type informs caches and people only.
pub fn content_type(extension: &str) -> &'static str {
    match extension.to_ascii_lowercase().as_str() {
        "js" | "bundle" | "hbc" => "application/javascript",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "txt" => "text/plain",
        "md" => "text/markdown",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "heic" => "image/heic",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "m4a" | "aac" => "audio/aac",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}
