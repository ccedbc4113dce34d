//! AWS Signature Version 4 in the query string: pre-signed URLs that any S3-compatible store verifies.
//!
//! The signing key is valid for a day, so it is cached. Each URL then costs one SHA-256 and one HMAC, and the URL is
//! its own canonical query, so nothing is built twice.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use hmac::{Hmac, KeyInit, Mac};
use launchway_domain::percent;
use launchway_domain::time::iso_basic;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The maximum lifetime of the scheme: seven days.
const MAX_SECONDS: i64 = 7 * 24 * 60 * 60;

/// Signs URLs for one access key and region. `Debug` shows no secret.
pub(crate) struct Signer {
    access_key_id: String,
    secret: Zeroizing<String>,
    region: String,
    /// The session token, percent-encoded.
    token: Option<String>,
    /// When temporary credentials expire, in epoch seconds.
    credentials_end: Option<i64>,
    today: ArcSwapOption<DayKey>,
}

/// The request that a URL allows.
pub(crate) struct Permit<'a> {
    /// The HTTP method.
    pub method: &'static str,
    /// Scheme and host of the URL, without a trailing slash.
    pub origin: &'a str,
    /// The `Host` header that the client will send.
    pub host: &'a str,
    /// The path, in pieces that contain only unreserved characters and slashes.
    pub path: &'a [&'a str],
    /// The `Content-Length` that the client must send.
    pub content_length: Option<u64>,
}

/// The signing key of one day, with the texts that depend on the day.
struct DayKey {
    /// Such as `20261120`.
    date: [u8; 8],
    key: Hmac<Sha256>,
}

impl Signer {
    /// `credentials_end` is in epoch seconds; `token` is the session token of temporary credentials.
    pub fn new(
        access_key_id: &str,
        secret: &str,
        region: &str,
        token: Option<&str>,
        credentials_end: Option<i64>,
    ) -> Signer {
        Signer {
            access_key_id: percent::encode(access_key_id).to_string(),
            secret: Zeroizing::new(secret.to_owned()),
            region: percent::encode(region).to_string(),
            token: token.map(|token| percent::encode(token).to_string()),
            credentials_end,
            today: ArcSwapOption::empty(),
        }
    }

    /// Appends the URL to `out` and returns its expiry in epoch milliseconds. `more_query` appends further parameters,
    /// each with a leading `&`, sorted, and after all `X-Amz-…` in byte order.
    pub fn sign_into(
        &self,
        out: &mut Vec<u8>,
        permit: &Permit<'_>,
        more_query: impl FnOnce(&mut Vec<u8>),
        now_ms: i64,
        seconds: u32,
    ) -> i64 {
        let now = now_ms.div_euclid(1000);
        let left = self.credentials_end.map_or(MAX_SECONDS, |end| end.saturating_sub(now));
        let seconds = i64::from(seconds).min(MAX_SECONDS).min(left).max(1);
        let time = iso_basic(now_ms);
        let today = self.day_key(time.first_chunk().expect("a time begins with its date"));
        let signed_headers = if permit.content_length.is_some() {
            "content-length%3Bhost"
        } else {
            "host"
        };

        out.extend(permit.origin.as_bytes());
        let path_start = out.len();
        permit.path.iter().for_each(|piece| out.extend(piece.as_bytes()));
        let path_end = out.len();
        out.extend(b"?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=");
        out.extend(self.access_key_id.as_bytes());
        out.extend(b"%2F");
        out.extend(today.date);
        out.extend(b"%2F");
        out.extend(self.region.as_bytes());
        out.extend(b"%2Fs3%2Faws4_request&X-Amz-Date=");
        out.extend(time);
        write!(out, "&X-Amz-Expires={seconds}").expect("memory takes what is written");
        if let Some(token) = &self.token {
            out.extend(b"&X-Amz-Security-Token=");
            out.extend(token.as_bytes());
        }
        out.extend(b"&X-Amz-SignedHeaders=");
        out.extend(signed_headers.as_bytes());
        more_query(out);

        let request = canonical_hash(permit, &out[path_start..path_end], &out[path_end + 1..]);
        let mut mac = today.key.clone();
        mac.update(b"AWS4-HMAC-SHA256\n");
        mac.update(&time);
        mac.update(b"\n");
        mac.update(&today.date);
        mac.update(b"/");
        mac.update(self.region.as_bytes());
        mac.update(b"/s3/aws4_request\n");
        mac.update(&request);
        out.extend(b"&X-Amz-Signature=");
        out.extend(hex_of(&mac.finalize().into_bytes().into()));
        (now + seconds) * 1000
    }

    /// The signing key of a day, derived again only when the day changes.
    fn day_key(&self, date: &[u8; 8]) -> Arc<DayKey> {
        if let Some(kept) = &*self.today.load()
            && kept.date == *date
        {
            return kept.clone();
        }
        let first = Zeroizing::new(format!("AWS4{}", *self.secret));
        let chain: [&[u8]; 4] = [date, self.region.as_bytes(), b"s3", b"aws4_request"];
        let key = chain.iter().fold(keyed(first.as_bytes()), |mut mac, part| {
            mac.update(part);
            keyed(&mac.finalize().into_bytes())
        });
        let made = Arc::new(DayKey { date: *date, key });
        self.today.store(Some(made.clone()));
        made
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// The hexadecimal hash of the canonical request of the URL.
fn canonical_hash(permit: &Permit<'_>, path: &[u8], query: &[u8]) -> [u8; 64] {
    let mut hash = Sha256::new();
    for part in [permit.method.as_bytes(), b"\n", path, b"\n", query] {
        hash.update(part);
    }
    if let Some(length) = permit.content_length {
        hash.update(format!("\ncontent-length:{length}"));
    }
    hash.update(b"\nhost:");
    hash.update(permit.host.as_bytes());
    hash.update(if permit.content_length.is_some() {
        "\n\ncontent-length;host\n"
    } else {
        "\n\nhost\n"
    });
    hash.update(b"UNSIGNED-PAYLOAD");
    hex_of(&hash.finalize().into())
}

/// Lower-case hexadecimal.
pub(crate) fn hex_of(bytes: &[u8; 32]) -> [u8; 64] {
    let mut text = [0; 64];
    hex::encode_to_slice(bytes, &mut text).expect("64 digits hold 32 bytes");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2013-05-24T00:00:00Z.
    const DOCUMENTED_MS: i64 = 1_369_353_600_000;

    /// The published example: Amazon S3 API reference, "Authenticating Requests: Using Query Parameters".
    #[test]
    fn agrees_with_the_published_example() {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let signer = Signer::new("AKIAIOSFODNN7EXAMPLE", secret, "us-east-1", None, None);
        let permit = Permit {
            method: "GET",
            origin: "https://examplebucket.s3.amazonaws.com",
            host: "examplebucket.s3.amazonaws.com",
            path: &["/", "test.txt"],
            content_length: None,
        };
        let mut url = Vec::new();
        let expires = signer.sign_into(&mut url, &permit, |_| (), DOCUMENTED_MS + 999, 86_400);
        assert_eq!(expires, DOCUMENTED_MS + 86_400_000);
        assert_eq!(
            String::from_utf8(url).unwrap(),
            "https://examplebucket.s3.amazonaws.com/test.txt\
             ?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
    }

    #[test]
    fn the_kept_key_follows_the_day() {
        let fresh = || Signer::new("id", "secret", "auto", None, None);
        let sign = |signer: &Signer, now_ms| {
            let permit = Permit {
                method: "GET",
                origin: "http://h",
                host: "h",
                path: &["/k"],
                content_length: None,
            };
            let mut url = Vec::new();
            signer.sign_into(&mut url, &permit, |_| (), now_ms, 60);
            url
        };
        let kept = fresh();
        for now_ms in [
            DOCUMENTED_MS,
            DOCUMENTED_MS + 1000,
            DOCUMENTED_MS + 86_400_000,
            DOCUMENTED_MS - 1,
        ] {
            assert_eq!(sign(&kept, now_ms), sign(&fresh(), now_ms));
        }
    }

    #[test]
    fn temporary_credentials_cap_the_expiry() {
        let signer = Signer::new("id", "secret", "auto", Some("a/b"), Some(1_000));
        let permit = Permit {
            method: "GET",
            origin: "http://h",
            host: "h",
            path: &["/k"],
            content_length: None,
        };
        let expiry = |now_ms, seconds| {
            let mut url = Vec::new();
            let expires = signer.sign_into(&mut url, &permit, |_| (), now_ms, seconds);
            let url = String::from_utf8(url).unwrap();
            assert!(url.contains("&X-Amz-Security-Token=a%2Fb&"), "{url}");
            let stated = url
                .split("X-Amz-Expires=")
                .nth(1)
                .unwrap()
                .split('&')
                .next()
                .unwrap()
                .to_owned();
            (expires, stated)
        };
        assert_eq!(expiry(900_500, 60), (960_000, "60".to_owned()));
        assert_eq!(expiry(900_500, 3600), (1_000_000, "100".to_owned()));
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!(
            "{:?}",
            Signer::new("public", "hidden-a", "auto", Some("hidden-b"), None)
        );
        assert!(!shown.contains("hidden"), "{shown}");
    }
}
