//! Credentials for signing and for the stores: the record, and when its end is told (contract part 5).

use serde_json::Value;

use crate::bundle_id::BundleId;
use crate::id::{CredentialId, OrgId};
use crate::time::{DAY, EpochMs};

/// An organization has at most this many credentials.
pub const MAX_CREDENTIALS: i64 = 200;
/// Days before its end at which an organization is told.
pub const NOTICES: [i64; 2] = [30, 7];

/// A credential without what is secret of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Credential {
    /// `credential_…`.
    pub id: CredentialId,
    /// Whose it is.
    pub org_id: OrgId,
    /// Such as `android_keystore`.
    pub kind: String,
    /// What people call it.
    pub name: String,
    /// The app it is for; `None` is every app.
    pub bundle_id: Option<BundleId>,
    /// Lower-case hex SHA-256 of what identifies it.
    pub fingerprint: String,
    /// What was read from the file.
    pub facts: Value,
    /// When it ends.
    pub expires_at: Option<EpochMs>,
    /// The last notice of its end that was given, in days before it.
    pub told_days: Option<i64>,
    /// Who gave it.
    pub created_by: String,
    /// When.
    pub created_at: EpochMs,
}

impl Credential {
    /// `active` or `expired`.
    pub fn status(&self, now: EpochMs) -> &'static str {
        match self.expires_at {
            Some(end) if end <= now => "expired",
            _ => "active",
        }
    }

    /// The notice that is due at `now`, in days before the end: the latest of [`NOTICES`] that was not given yet. A
    /// credential that has ended gets none.
    pub fn due_notice(&self, now: EpochMs) -> Option<i64> {
        let left = self.expires_at? - now;
        if left <= 0 {
            return None;
        }
        let due = NOTICES.iter().copied().filter(|days| left <= days * DAY).min()?;
        self.told_days.is_none_or(|told| told > due).then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notice_is_due_once() {
        const END: EpochMs = 2_000_000_000_000;
        let due = |told_days: Option<i64>, left: EpochMs| {
            let credential = Credential {
                id: CredentialId::new(0, [0; 10]),
                org_id: OrgId::new(0, [0; 10]),
                kind: "apple_certificate".to_owned(),
                name: String::new(),
                bundle_id: None,
                fingerprint: String::new(),
                facts: Value::Null,
                expires_at: Some(END),
                told_days,
                created_by: String::new(),
                created_at: 0,
            };
            credential.due_notice(END - left)
        };
        let cases = [
            (None, 31 * DAY, None),
            (None, 30 * DAY + 1, None),
            (None, 30 * DAY, Some(30)),
            (Some(30), 29 * DAY, None),
            (Some(30), 7 * DAY + 1, None),
            (Some(30), 7 * DAY, Some(7)),
            (None, 3 * DAY, Some(7)),
            (Some(7), 1, None),
            (None, 0, None),
            (None, -1, None),
        ];
        for (told, left, expected) in cases {
            assert_eq!(due(told, left), expected, "{told:?} {left}");
        }
    }
}
