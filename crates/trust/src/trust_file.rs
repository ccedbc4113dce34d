//! `launchway.trust.json`: the file that developers commit, and that `launchway embed` writes into the app
//! (`docs/reference/trust.md#the-trust-file`).

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Sha256;
use crate::identity::RepositoryId;
use crate::json::{self, JsonError, Value, object};
use crate::metadata::FormError;
use crate::metadata::fields::Fields;

/// The most bytes of the file.
const LIMIT: usize = 256 << 10;

/// What an app carries: where its trust begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustFile {
    /// The root, as the text that was signed.
    pub root: String,
    /// The id of the repository.
    pub repository: RepositoryId,
    /// The lowest version of roles that is taken.
    pub floors: BTreeMap<String, u64>,
    /// Packages that are never started.
    pub revoked: BTreeSet<Sha256>,
}

/// The file is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustFileError {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A field is missing, unknown or not of its form.
    #[error(transparent)]
    Form(#[from] FormError),
}

impl TrustFile {
    /// Reads the file. A field that is not known is an error: it may be one that forbids something.
    ///
    /// # Errors
    /// See [`TrustFileError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, TrustFileError> {
        let mut fields = Fields::of(json::parse(bytes, LIMIT)?, "launchway.trust.json")?;
        let floors = fields
            .object("floors")?
            .into_iter()
            .map(|(role, version)| match version {
                Value::Integer(version) if version > 0 => Ok((role, version.unsigned_abs())),
                _ => Err(FormError { field: "floors" }),
            });
        let floors = floors.collect::<Result<_, _>>()?;
        let revoked = fields.texts("revoked")?.into_iter();
        let revoked = revoked.map(|text| text.parse().map_err(|_| FormError { field: "revoked" }));
        let file = Self {
            root: fields.text("root")?,
            repository: fields
                .text("repository")?
                .parse()
                .map_err(|_| FormError { field: "repository" })?,
            floors,
            revoked: revoked.collect::<Result<_, _>>()?,
        };
        if fields.members().is_empty() {
            Ok(file)
        } else {
            Err(FormError {
                field: "launchway.trust.json",
            })?
        }
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let floors = self
            .floors
            .iter()
            .map(|(role, version)| (role.clone(), (*version).into()));
        let revoked = self.revoked.iter().map(|hash| hash.to_string().into());
        let members = object([
            ("floors", Value::Object(floors.collect())),
            ("repository", self.repository.to_string().into()),
            ("revoked", Value::Array(revoked.collect())),
            ("root", self.root.clone().into()),
        ]);
        json::to_text(&Value::Object(members)) + "\n"
    }
}
