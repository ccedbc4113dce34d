//! Signs and verifies the URLs of the local directory (`docs/reference/uploads.md#signed-urls-of-the-local-directory`).
//!
//! `…/KEY?expires=SECONDS&name=FILE&signature=HEX` allows GET and HEAD,
//! `…/KEY?expires=SECONDS&size=BYTES&signature=HEX` allows PUT of exactly that many bytes. The signature is an
//! HMAC-SHA256 over method, key and parameters.

use std::io::Write;

use launchway_domain::percent;
use subtle::ConstantTimeEq;

use super::Directory;
use crate::sigv4::hex_of;
use crate::{Key, push_encoded};

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET and HEAD.
    Get,
    /// PUT.
    Put,
}

/// What a valid URL allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The object.
    pub key: Key,
    /// The permitted access.
    pub access: Access,
    /// When it expires, in epoch milliseconds.
    pub expires_at_ms: i64,
}

/// The access that a URL allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Download the object under this file name.
    Get {
        /// The name that the signer chose: any text.
        file_name: String,
    },
    /// Upload the object with exactly this many bytes.
    Put {
        /// The size in bytes.
        size: u64,
    },
}

/// Why a URL is rejected. The text is for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// It was not signed here, or was altered.
    #[error("The signature of this link is not valid")]
    Signature,
    /// It has expired.
    #[error("This link has expired. Ask for a new one.")]
    Expired,
}

impl Directory {
    pub(crate) fn presign_get_into(
        &self,
        out: &mut Vec<u8>,
        key: &Key,
        file_name: &str,
        now_ms: i64,
        seconds: u32,
    ) -> i64 {
        let expires = expiry(now_ms, seconds);
        self.start_url(out, key, expires);
        out.extend(b"&name=");
        push_encoded(out, file_name);
        finish_url(out, &self.signature(Method::Get, key, expires, file_name.as_bytes()));
        expires.saturating_mul(1000)
    }

    pub(crate) fn presign_put_into(&self, out: &mut Vec<u8>, key: &Key, size: u64, now_ms: i64, seconds: u32) -> i64 {
        let expires = expiry(now_ms, seconds);
        self.start_url(out, key, expires);
        write!(out, "&size={size}").expect("memory takes what is written");
        finish_url(
            out,
            &self.signature(Method::Put, key, expires, size.to_string().as_bytes()),
        );
        expires.saturating_mul(1000)
    }

    /// Verifies a request for `key` (the raw path below the base URL, without the leading slash) with this query
    /// string. Parameters outside the signature are ignored.
    ///
    /// # Errors
    /// The [`GrantError`]. Only a genuine link is reported as expired.
    pub(crate) fn verify(&self, method: Method, key: &str, query: &str, now_ms: i64) -> Result<Grant, GrantError> {
        let claim = Claim::read(method, query).ok_or(GrantError::Signature)?;
        let key = Key::new(key).map_err(|_| GrantError::Signature)?;
        let bound = match &claim.access {
            Access::Get { file_name } => self.signature(method, &key, claim.expires, file_name.as_bytes()),
            Access::Put { size } => self.signature(method, &key, claim.expires, size.to_string().as_bytes()),
        };
        if !bool::from(hex_of(&bound).as_slice().ct_eq(claim.signature.as_bytes())) {
            return Err(GrantError::Signature);
        }
        let expires_at_ms = claim.expires.saturating_mul(1000);
        if now_ms >= expires_at_ms {
            return Err(GrantError::Expired);
        }
        Ok(Grant {
            key,
            access: claim.access,
            expires_at_ms,
        })
    }

    fn start_url(&self, out: &mut Vec<u8>, key: &Key, expires: i64) {
        out.extend(self.base_url.as_bytes());
        out.push(b'/');
        out.extend(key.as_str().as_bytes());
        out.extend(b"?expires=");
        out.extend(itoa::Buffer::new().format(expires).as_bytes());
    }

    /// No field before `bound` can contain a line feed, and `bound` comes last: no two permits have the same text.
    fn signature(&self, method: Method, key: &Key, expires: i64, bound: &[u8]) -> [u8; 32] {
        let purpose = match method {
            Method::Get => b"launchway file 1\nGET\n",
            Method::Put => b"launchway file 1\nPUT\n",
        };
        let key = key.as_str().as_bytes();
        self.signing_key
            .of(&[purpose, key, b"\n", &expires.to_be_bytes(), bound])
    }
}

/// The unverified contents of a query string.
struct Claim<'a> {
    access: Access,
    expires: i64,
    signature: &'a str,
}

impl<'a> Claim<'a> {
    /// `None` if a parameter is missing, repeated or malformed.
    fn read(method: Method, query: &'a str) -> Option<Claim<'a>> {
        let one = |name: &str| {
            let mut values = query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .filter(|(found, _)| *found == name);
            let (_, value) = values.next()?;
            values.next().is_none().then_some(value)
        };
        let access = match method {
            Method::Get => Access::Get {
                file_name: percent::decode(one("name")?)?,
            },
            Method::Put => Access::Put {
                size: one("size")?.parse().ok()?,
            },
        };
        Some(Claim {
            access,
            expires: one("expires")?.parse().ok()?,
            signature: one("signature")?,
        })
    }
}

/// The epoch second at which a URL signed now expires: the signing time floored to the second, plus its lifetime.
fn expiry(now_ms: i64, seconds: u32) -> i64 {
    now_ms.div_euclid(1000) + i64::from(seconds)
}

fn finish_url(out: &mut Vec<u8>, signature: &[u8; 32]) {
    out.extend(b"&signature=");
    out.extend(hex_of(signature));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_790_000_000_750;

    fn directory(signing_key: [u8; 32]) -> (tempfile::TempDir, Directory) {
        let root = tempfile::tempdir().unwrap();
        let directory = Directory::open(root.path(), "https://example.com/files", signing_key).unwrap();
        (root, directory)
    }

    fn get_url(directory: &Directory, key: &str, name: &str) -> String {
        let mut url = Vec::new();
        let expires = directory.presign_get_into(&mut url, &Key::new(key).unwrap(), name, NOW, 3600);
        assert_eq!(expires, 1_790_003_600_000);
        String::from_utf8(url).unwrap()
    }

    fn put_url(directory: &Directory, key: &str, size: u64) -> String {
        let mut url = Vec::new();
        directory.presign_put_into(&mut url, &Key::new(key).unwrap(), size, NOW, 60);
        String::from_utf8(url).unwrap()
    }

    fn verify(directory: &Directory, method: Method, url: &str, now_ms: i64) -> Result<Grant, GrantError> {
        let (key, query) = url
            .strip_prefix("https://example.com/files/")
            .unwrap()
            .split_once('?')
            .unwrap();
        directory.verify(method, key, query, now_ms)
    }

    #[test]
    fn a_url_gives_what_was_signed() {
        let (_root, directory) = directory([7; 32]);
        let name = "M\u{fc}ller & S\u{f6}hne=1.zip";
        let get = verify(&directory, Method::Get, &get_url(&directory, "a/b.zip", name), NOW).unwrap();
        assert_eq!((get.key.as_str(), get.expires_at_ms), ("a/b.zip", 1_790_003_600_000));
        assert_eq!(
            get.access,
            Access::Get {
                file_name: name.to_owned()
            }
        );
        let put = verify(&directory, Method::Put, &put_url(&directory, "a/b.zip", 42), NOW).unwrap();
        assert_eq!(
            (put.access, put.expires_at_ms),
            (Access::Put { size: 42 }, 1_790_000_060_000)
        );
    }

    #[test]
    fn a_change_of_any_character_is_noticed() {
        let (_root, directory) = directory([7; 32]);
        for (method, url) in [
            (Method::Get, get_url(&directory, "a/b.zip", "n 1.zip")),
            (Method::Put, put_url(&directory, "a/b.zip", 42)),
        ] {
            let start = "https://example.com/files/".len();
            let mut tried = 0;
            for place in start..url.len() {
                for other in "aA0z9./-&=?%~".chars() {
                    let mut bytes = url.clone().into_bytes();
                    bytes[place] = other as u8;
                    let changed = String::from_utf8(bytes).unwrap();
                    let split = changed
                        .strip_prefix("https://example.com/files/")
                        .unwrap()
                        .split_once('?');
                    let (Some((key, query)), true) = (split, changed != url) else {
                        continue;
                    };
                    assert_eq!(
                        directory.verify(method, key, query, NOW),
                        Err(GrantError::Signature),
                        "{changed}"
                    );
                    tried += 1;
                }
            }
            assert!(tried > 1000, "{tried}");
        }
    }

    #[test]
    fn methods_keys_and_parameters_do_not_stand_for_each_other() {
        let (_root, signer) = directory([7; 32]);
        let (get, put) = (get_url(&signer, "a/b", "42"), put_url(&signer, "a/b", 42));
        assert_eq!(verify(&signer, Method::Put, &get, NOW), Err(GrantError::Signature));
        assert_eq!(verify(&signer, Method::Get, &put, NOW), Err(GrantError::Signature));
        let as_put = get.replace("name=", "size=");
        assert_eq!(verify(&signer, Method::Put, &as_put, NOW), Err(GrantError::Signature));
        let (_other_root, other) = directory([8; 32]);
        assert_eq!(verify(&other, Method::Get, &get, NOW), Err(GrantError::Signature));
        for twice in ["&name=x", "&expires=9999999999", "&signature=00"] {
            assert_eq!(
                verify(&signer, Method::Get, &format!("{get}{twice}"), NOW),
                Err(GrantError::Signature),
                "{twice}"
            );
        }
        assert!(
            verify(&signer, Method::Get, &format!("{get}&utm=x"), NOW).is_ok(),
            "unknown ones are ignored"
        );
    }

    #[test]
    fn a_url_lives_to_the_announced_millisecond() {
        let (_root, directory) = directory([7; 32]);
        let url = get_url(&directory, "a", "a");
        assert!(verify(&directory, Method::Get, &url, 1_790_003_599_999).is_ok());
        assert_eq!(
            verify(&directory, Method::Get, &url, 1_790_003_600_000),
            Err(GrantError::Expired)
        );
        let forged = url.replace("expires=1790003600", "expires=1790003601");
        assert_eq!(
            verify(&directory, Method::Get, &forged, 1_790_003_600_000),
            Err(GrantError::Signature)
        );
    }

    proptest! {
        #[test]
        fn any_file_name_survives_and_any_query_is_read_without_harm(name in any::<String>(), query in any::<String>()) {
            let (_root, directory) = directory([7; 32]);
            let grant = verify(&directory, Method::Get, &get_url(&directory, "k", &name), NOW).unwrap();
            prop_assert_eq!(grant.access, Access::Get { file_name: name });
            prop_assert_eq!(directory.verify(Method::Put, &query, &query, NOW), Err(GrantError::Signature));
        }
    }
}
