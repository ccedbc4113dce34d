//! What a developer signs when publishing: the manifest, and what is served in its place once the update is withdrawn
//! (`docs/reference/expo.md#directives`). The key is elsewhere; here is what it signs.

use launchway_domain::time::EpochMs;
use uuid::Uuid;

use super::directive::{Directive, RollBack};
use super::manifest::{Manifest, UNDO_SPAN};
use super::response::Part;
use super::signature::{Signature, SignatureError};

/// An update with its prepared undo. A server can serve each part as it is, and make none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedRelease {
    /// The manifest of the update.
    pub manifest: Part,
    /// The content before it, to be created a millisecond after it; `None` if there was none.
    pub previous: Option<Part>,
    /// The return to the content of the installed app, a millisecond later.
    pub embedded: Part,
}

/// The release cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError<E> {
    /// The key did not sign.
    #[error(transparent)]
    Key(E),
    /// The name of the key or its signature cannot be sent.
    #[error("the signature {0}")]
    Signature(#[from] SignatureError),
    /// The update is not later than the one before it.
    #[error("the update must be created more than {UNDO_SPAN} ms after the one before it")]
    NotLater,
    /// It is for another runtime than the one before it.
    #[error("the update before it must be for the same runtime version")]
    OtherRuntime,
}

/// What an update undoes to: the update before it, and the id under which its content returns.
#[derive(Clone, Copy, Debug)]
pub struct Previous<'m> {
    /// The manifest that clients run before.
    pub manifest: &'m Manifest,
    /// A new id for the same content: clients do not take an update that they had.
    pub id: Uuid,
}

/// When an update is created at the earliest, so that its undo and that of the newest one before it stay in order.
pub fn created_at(now: EpochMs, newest: Option<EpochMs>) -> EpochMs {
    newest.map_or(now, |newest| now.max(newest + UNDO_SPAN + 1))
}

impl SignedRelease {
    /// Signs an update by the key of this name. `sign` makes RSASSA-PKCS1-v1_5 signatures with SHA-256.
    ///
    /// # Errors
    /// The key does not sign, or the undo would not be in order.
    pub fn sign<E>(
        manifest: &Manifest,
        previous: Option<Previous<'_>>,
        key_id: &str,
        sign: impl Fn(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Self, SigningError<E>> {
        let signed = |body: Vec<u8>| {
            let bytes = sign(&body).map_err(SigningError::Key)?;
            let signature = Some(Signature::new(key_id, bytes)?);
            Ok::<Part, SigningError<E>>(Part { body, signature })
        };
        let previous = match previous {
            None => None,
            Some(previous) => {
                if manifest.created_at <= previous.manifest.created_at + UNDO_SPAN {
                    return Err(SigningError::NotLater);
                }
                if manifest.runtime_version != previous.manifest.runtime_version {
                    return Err(SigningError::OtherRuntime);
                }
                Some(signed(previous.manifest.again_after(manifest, previous.id).to_json())?)
            }
        };
        Ok(Self {
            manifest: signed(manifest.to_json())?,
            previous,
            embedded: signed(Directive::RollBack(RollBack::from(manifest)).to_json())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::tests::manifest;
    use super::*;

    const NEW_ID: Uuid = Uuid::from_u128(9);

    fn sign(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
        Ok(vec![bytes.len() as u8; 256])
    }

    fn later(by: EpochMs) -> Manifest {
        let before = manifest(1);
        Manifest {
            id: Uuid::from_u128(8),
            created_at: before.created_at + by,
            ..before
        }
    }

    #[test]
    fn a_client_can_go_from_each_part_to_the_next() {
        let (before, update) = (manifest(1), later(created_at(0, Some(0))));
        let previous = Previous {
            manifest: &before,
            id: NEW_ID,
        };
        let release = SignedRelease::sign(&update, Some(previous), "main", sign).unwrap();
        let undo = Manifest::parse(&release.previous.unwrap().body).unwrap();
        let Directive::RollBack(embedded) = Directive::parse(&release.embedded.body).unwrap() else {
            panic!("another directive");
        };
        let times = [
            before.created_at,
            update.created_at,
            undo.created_at,
            embedded.commit_time,
        ];
        assert!(times.is_sorted_by(|this, that| this < that), "{times:?}");
        assert_eq!((undo.id, undo.launch_asset), (NEW_ID, before.launch_asset));
        // The next update is above all of them.
        assert!(created_at(0, Some(update.created_at)) > embedded.commit_time);
        assert_eq!(created_at(5, None), 5);
    }

    #[test]
    fn an_undo_out_of_order_is_not_signed() {
        let before = manifest(1);
        let previous = || {
            Some(Previous {
                manifest: &before,
                id: NEW_ID,
            })
        };
        let too_early = SignedRelease::sign(&later(UNDO_SPAN), previous(), "main", sign);
        assert_eq!(too_early, Err(SigningError::NotLater));
        let other = Manifest {
            runtime_version: launchway_domain::release::RuntimeVersion::parse("2.0.0").unwrap(),
            ..later(1_000)
        };
        assert_eq!(
            SignedRelease::sign(&other, previous(), "main", sign),
            Err(SigningError::OtherRuntime)
        );
    }

    #[test]
    fn a_key_that_does_not_sign_signs_nothing() {
        let refused = SignedRelease::sign(&manifest(1), None, "main", |_| Err("no key"));
        assert_eq!(refused, Err(SigningError::Key("no key")));
        let short = SignedRelease::sign(&manifest(1), None, "main", |_| Ok::<_, &str>(vec![0; 10]));
        assert_eq!(short, Err(SigningError::Signature(SignatureError)));
    }
}
