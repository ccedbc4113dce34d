//! Which trust file takes the place of another one in an app (`docs/reference/trust.md#embedding`).

use crate::metadata::{Metadata, MetadataError, Root, SignatureCountError};
use crate::role::TopLevel;
use crate::trust_file::TrustFile;

/// Why a trust file does not take the place of another one. The message follows the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuccessionError {
    /// The root of one of them cannot be read.
    #[error("has a root that {0}")]
    Root(#[from] MetadataError),
    /// The root is not signed by its own keys.
    #[error("has a root that {0}")]
    Signatures(#[from] SignatureCountError),
    /// The root is of another repository than the file.
    #[error("has a root of another repository than its own")]
    Identity,
    /// They are of different repositories or apps.
    #[error("is of another repository or app")]
    Repository,
    /// The other root is newer.
    #[error("has version {found} of the root, which is older than version {before}")]
    Older {
        /// The version of its root.
        found: u64,
        /// The version of the other root.
        before: u64,
    },
    /// The roots have the same version and differ.
    #[error("has another root of the same version {0}")]
    Different(u64),
    /// The keys of the other root did not sign the newer one.
    #[error("has version {found} of the root, which the keys of version {before} did not sign")]
    Unchained {
        /// The version of its root.
        found: u64,
        /// The version of the other root.
        before: u64,
    },
}

impl TrustFile {
    /// The root, signed by its own keys and of the file's repository. It may have expired.
    ///
    /// # Errors
    /// It cannot be read, or is another root.
    pub fn read_root(&self) -> Result<Metadata<Root>, SuccessionError> {
        let root: Metadata<Root> = Metadata::parse(self.root.as_bytes())?;
        root.body().authority(TopLevel::Root).verify(&root)?;
        let identity = root.header().identity.as_ref();
        match identity.filter(|identity| identity.repository == self.repository) {
            Some(_) => Ok(root),
            None => Err(SuccessionError::Identity),
        }
    }

    /// Checks that this file takes the place of `before`: the root is the same one, or a newer one that enough keys of
    /// the one before signed. Roots between the two are not needed, as long as keys of the older one remain.
    ///
    /// # Errors
    /// It does not.
    pub fn check_succeeds(&self, before: &TrustFile) -> Result<(), SuccessionError> {
        let (root, old) = (self.read_root()?, before.read_root()?);
        if root.header().identity != old.header().identity {
            return Err(SuccessionError::Repository);
        }
        let (found, before) = (root.version(), old.version());
        if found < before {
            return Err(SuccessionError::Older { found, before });
        }
        if found == before {
            let same = root.message() == old.message();
            return if same {
                Ok(())
            } else {
                Err(SuccessionError::Different(found))
            };
        }
        old.body()
            .authority(TopLevel::Root)
            .verify(&root)
            .map_err(|_| SuccessionError::Unchained { found, before })
    }
}
