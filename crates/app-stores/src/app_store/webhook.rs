//! Webhook events of App Store Connect: authenticates them, and determines what they are about. An event is only a hint
//! to poll now: the state is read from App Store Connect itself.
//!
//! App Store Connect signs the raw body with HMAC-SHA256 and the secret of the webhook, and sends `hmacsha256=<hex>`;
//! see "Configuring and parsing App Store Connect API webhook notifications" in its documentation.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use launchway_credentials::MalformedError;
use serde_json::Value;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Progress;
use crate::answer::Fields;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "x-apple-signature";
/// The maximum size of an event in bytes; real ones are far smaller.
pub const MAX_EVENT: usize = 64 * 1024;

const PREFIX: &str = "hmacsha256=";

/// The secret shared by App Store Connect and the receiver. It is not printed, and zeroed on drop.
pub struct WebhookSecret(Zeroizing<String>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    /// The secret that was configured in App Store Connect.
    pub fn new(text: Zeroizing<String>) -> WebhookSecret {
        WebhookSecret(text)
    }

    /// The signature of a body, in the format of the header.
    pub fn sign(&self, body: &[u8]) -> String {
        format!("{PREFIX}{}", hex::encode(self.mac(body).finalize().into_bytes()))
    }

    /// Whether `signature`, the full value of the header, is valid for this body. Runs in constant time.
    pub fn verifies(&self, body: &[u8], signature: &str) -> bool {
        let given = signature.trim().strip_prefix(PREFIX);
        let given = given.and_then(|text| hex::decode(text).ok());
        given.is_some_and(|given| self.mac(body).verify_slice(&given).is_ok())
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(body);
        mac
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The id of the event; the same for repeated deliveries.
    pub id: String,
    /// The type, such as `appStoreVersionAppVersionStateUpdated`, or `webhookPingCreated` for a test.
    pub kind: String,
    /// The type of its subject, such as `appStoreVersions`; empty if missing.
    pub subject_type: String,
    /// The id of its subject; empty if missing.
    pub subject_id: String,
}

impl Event {
    /// Parses the body of an event whose signature is valid.
    ///
    /// # Errors
    /// The body is not an event.
    pub fn read(body: &[u8]) -> Result<Event, MalformedError> {
        let event: Value = serde_json::from_slice(body).map_err(|_| MalformedError)?;
        let text = |pointer: &str| event.text(pointer).unwrap_or_default().to_owned();
        let read = Event {
            id: text("/data/id"),
            kind: text("/data/type"),
            subject_type: text("/data/relationships/instance/data/type"),
            subject_id: text("/data/relationships/instance/data/id"),
        };
        if read.id.is_empty() || read.kind.is_empty() {
            return Err(MalformedError);
        }
        Ok(read)
    }

    /// Whether a submission with this progress should poll now.
    pub fn concerns(&self, progress: &Progress) -> bool {
        let known = match self.subject_type.as_str() {
            "buildUploads" => &progress.build_upload_id,
            // A build's TestFlight state has the id of the build.
            "builds" | "buildBetaDetails" => &progress.build_id,
            "appStoreVersions" => &progress.version_id,
            _ => return false,
        };
        !known.is_empty() && *known == self.subject_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"data":{"type":"appStoreVersionAppVersionStateUpdated","id":"7c813492","version":1,
        "attributes":{"newValue":"IN_REVIEW","oldValue":"WAITING_FOR_REVIEW","timestamp":"2026-04-16T05:00:52.745Z"},
        "relationships":{"instance":{"data":{"type":"appStoreVersions","id":"ad7e6298"},
        "links":{"self":"https://api.appstoreconnect.apple.com/v1/appStoreVersions/ad7e6298"}}}}}"#;

    fn secret(text: &str) -> WebhookSecret {
        WebhookSecret::new(Zeroizing::new(text.to_owned()))
    }

    #[test]
    fn a_signature_is_that_of_everybody_elses_hmac() {
        // RFC 4231, test case 2.
        let signature = "hmacsha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let (secret, body) = (secret("Jefe"), b"what do ya want for nothing?");
        assert_eq!(secret.sign(body), signature);
        assert!(secret.verifies(body, signature));
        assert!(secret.verifies(body, &signature.replace("bdcc", "BDCC")));
    }

    #[test]
    fn another_body_secret_or_form_is_refused() {
        let right = secret("right");
        let signature = right.sign(BODY);
        assert!(right.verifies(BODY, &signature));
        assert!(!right.verifies(&BODY[1..], &signature));
        assert!(!secret("wrong").verifies(BODY, &signature));
        for form in [
            "",
            "hmacsha256=",
            "hmacsha256=zz",
            &signature[11..],
            &signature[..40],
            "sha256=00",
        ] {
            assert!(!right.verifies(BODY, form), "{form}");
        }
        assert_eq!(format!("{right:?}"), "WebhookSecret(…)");
    }

    #[test]
    fn an_event_says_which_submissions_should_look() {
        let event = Event::read(BODY).unwrap();
        assert_eq!(event.kind, "appStoreVersionAppVersionStateUpdated");
        let mut progress = Progress::default();
        assert!(!event.concerns(&progress));
        progress.version_id = "ad7e6298".to_owned();
        assert!(event.concerns(&progress));
        progress.version_id = "another".to_owned();
        progress.build_id = "ad7e6298".to_owned();
        assert!(!event.concerns(&progress));
        let of = |kind: &str| Event {
            subject_type: kind.to_owned(),
            ..event.clone()
        };
        assert!(of("builds").concerns(&progress) && of("buildBetaDetails").concerns(&progress));
        assert!(!of("buildUploads").concerns(&progress) && !of("").concerns(&progress));
    }

    #[test]
    fn what_is_no_event_is_refused_and_a_ping_is_one() {
        for body in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"data":{"id":"1"}}"#,
            r#"{"data":{"id":"","type":"x"}}"#,
        ] {
            assert_eq!(Event::read(body.as_bytes()), Err(MalformedError), "{body}");
        }
        let ping = Event::read(br#"{"data":{"type":"webhookPingCreated","id":"9","version":1}}"#).unwrap();
        assert!(!ping.concerns(&Progress::default()));
    }
}
