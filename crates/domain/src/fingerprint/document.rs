//! Fingerprint documents: their fields, their limits, and their hash.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Fingerprint;
use super::canonical;
use super::framework::Framework;
use crate::platform::Platform;
use crate::words::UnknownWordError;

words! {
    /// How the trees of a document are hashed: the value of the field `alg`.
    Algorithm:
    /// Ignores versions and build numbers.
    Lwfp1 = "lwfp-1",
    /// Also ignores signing settings. Whatever is equal under `lwfp-1` is equal under this one too.
    Lwfp2 = "lwfp-2",
}

/// The maximum number of plugins in a document.
pub const MAX_PLUGINS: usize = 2000;
/// The maximum number of characters of a plugin's name, as in npm.
pub const MAX_PLUGIN_NAME: usize = 214;
/// The maximum number of characters of a plugin's version.
pub const MAX_PLUGIN_VERSION: usize = 128;
/// The maximum size of a document's canonical form in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// The fingerprint inputs of one app on one platform. Every instance respects the limits of this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintDocument {
    algorithm: Algorithm,
    framework: Framework,
    native: String,
    platform: Platform,
    plugins: BTreeMap<String, String>,
    resources: String,
}

/// Why a value is not a valid document. The messages name the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The value is not a JSON object.
    #[error("fingerprint must be text, or a lwfp-1 or lwfp-2 document")]
    NotAnObject,
    /// The field is unknown.
    #[error("fingerprint.{} is an unknown field", escape_name(.0))]
    UnknownField(String),
    /// The field is missing.
    #[error("fingerprint.{0} is required")]
    Missing(&'static str),
    /// The field is not a string.
    #[error("fingerprint.{0} must be text")]
    NotText(&'static str),
    /// `alg` is an unknown algorithm.
    #[error("fingerprint.alg must be lwfp-1 or lwfp-2")]
    Alg,
    /// `framework` is unknown.
    #[error("fingerprint.framework {0}")]
    Framework(UnknownWordError),
    /// `platform` is unknown.
    #[error("fingerprint.{0}")]
    Platform(UnknownWordError),
    /// `native` or `resources` is not a hash. An empty or absent tree has one too: the hash of no bytes.
    #[error("fingerprint.{0} must be a SHA-256 in lower-case hex")]
    NotAHash(&'static str),
    /// `plugins` is not an object.
    #[error("fingerprint.plugins must be an object of names and versions")]
    NotPlugins,
    /// `plugins` has too many entries.
    #[error("fingerprint.plugins must name at most 2000 plugins")]
    TooManyPlugins,
    /// The name of a plugin is empty, too long, or has control characters.
    #[error("fingerprint.plugins has a name that is not 1 to 214 printable characters: {}", escape_name(.0))]
    PluginName(String),
    /// The version of this plugin is not a string, empty, too long, or has control characters.
    #[error("fingerprint.plugins.{} must be a version of 1 to 128 printable characters", escape_name(.0))]
    PluginVersion(String),
    /// The document is too large.
    #[error("fingerprint must be at most 256 KiB")]
    TooLarge,
}

impl FingerprintDocument {
    /// Makes a document from its parts; `native` and `resources` are hashes of trees, lower-case hex SHA-256.
    ///
    /// # Errors
    /// A part exceeds a limit of this module.
    pub fn new(
        algorithm: Algorithm,
        framework: Framework,
        platform: Platform,
        plugins: BTreeMap<String, String>,
        resources: String,
        native: String,
    ) -> Result<Self, DocumentError> {
        for (field, hash) in [("native", &native), ("resources", &resources)] {
            if !is_sha256_hex(hash) {
                return Err(DocumentError::NotAHash(field));
            }
        }
        if plugins.len() > MAX_PLUGINS {
            return Err(DocumentError::TooManyPlugins);
        }
        for (name, version) in &plugins {
            if !is_printable(name, MAX_PLUGIN_NAME) {
                return Err(DocumentError::PluginName(name.clone()));
            }
            if !is_printable(version, MAX_PLUGIN_VERSION) {
                return Err(DocumentError::PluginVersion(name.clone()));
            }
        }
        let document = Self {
            algorithm,
            framework,
            native,
            platform,
            plugins,
            resources,
        };
        if document.canonical().len() > MAX_DOCUMENT_BYTES {
            return Err(DocumentError::TooLarge);
        }
        Ok(document)
    }

    /// Parses a document: exactly the fields `alg`, `framework`, `native`, `platform`, `plugins` and `resources`.
    ///
    /// # Errors
    /// The first field that is unknown, missing or invalid, or a limit of this module that is exceeded.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        let Value::Object(mut fields) = value else {
            return Err(DocumentError::NotAnObject);
        };
        let algorithm = take_text(&mut fields, "alg")?.parse().map_err(|_| DocumentError::Alg)?;
        let framework = take_text(&mut fields, "framework")?
            .parse::<Framework>()
            .map_err(DocumentError::Framework)?;
        let native = take_text(&mut fields, "native")?;
        let platform = take_text(&mut fields, "platform")?
            .parse::<Platform>()
            .map_err(DocumentError::Platform)?;
        let plugins = match take(&mut fields, "plugins")? {
            Value::Object(plugins) => plugins_from(plugins)?,
            _ => return Err(DocumentError::NotPlugins),
        };
        let resources = take_text(&mut fields, "resources")?;
        if let Some((name, _)) = fields.into_iter().next() {
            return Err(DocumentError::UnknownField(name));
        }
        Self::new(algorithm, framework, platform, plugins, resources, native)
    }

    /// The algorithm that hashed its trees.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The framework of the app.
    pub const fn framework(&self) -> Framework {
        self.framework
    }

    /// The platform of the app.
    pub const fn platform(&self) -> Platform {
        self.platform
    }

    /// The installed version of each native plugin, by name.
    pub const fn plugins(&self) -> &BTreeMap<String, String> {
        &self.plugins
    }

    /// The hash of the app resources folder.
    pub fn resources(&self) -> &str {
        &self.resources
    }

    /// The hash of the native source.
    pub fn native(&self) -> &str {
        &self.native
    }

    /// The document as RFC 8785 JSON: the bytes that are hashed, and the form that is stored.
    pub fn canonical(&self) -> String {
        canonical::write(self)
    }

    /// The hash of the document: lower-case hex SHA-256 of [`FingerprintDocument::canonical`].
    pub fn hash(&self) -> Fingerprint {
        Fingerprint(hex::encode(Sha256::digest(self.canonical())).into())
    }
}

fn take(fields: &mut Map<String, Value>, field: &'static str) -> Result<Value, DocumentError> {
    fields.remove(field).ok_or(DocumentError::Missing(field))
}

fn take_text(fields: &mut Map<String, Value>, field: &'static str) -> Result<String, DocumentError> {
    match take(fields, field)? {
        Value::String(text) => Ok(text),
        _ => Err(DocumentError::NotText(field)),
    }
}

fn plugins_from(plugins: Map<String, Value>) -> Result<BTreeMap<String, String>, DocumentError> {
    let version = |(name, value)| match value {
        Value::String(version) => Ok((name, version)),
        _ => Err(DocumentError::PluginVersion(name)),
    };
    plugins.into_iter().map(version).collect()
}

fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Control characters are refused because names and versions are displayed, also on terminals.
fn is_printable(text: &str, longest: usize) -> bool {
    !text.is_empty() && text.chars().count() <= longest && !text.chars().any(char::is_control)
}

/// An untrusted name in a form fit for a message: escaped and truncated.
fn escape_name(name: &str) -> String {
    const SHOWN: usize = 60;
    let mut text: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}
