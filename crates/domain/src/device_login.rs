//! Signing in a command line through a browser: the command shows a short code, a signed-in user confirms it, and the command
//! receives an API key (after RFC 8628, device authorization).

use std::fmt;
use std::str::FromStr;

use crate::id::{DeviceLoginId, OrgId, UserId};
use crate::scope::Scope;
use crate::time::{DAY, EpochMs, HOUR, MINUTE, SECOND};

/// How long a code can be confirmed and its key fetched.
pub const DEVICE_LOGIN_LIFE: EpochMs = 10 * MINUTE;
/// The interval at which a command polls.
pub const POLL_INTERVAL: EpochMs = 5 * SECOND;
/// How long a key created this way works, unless it has the scope `admin`.
pub const KEY_LIFE: EpochMs = 90 * DAY;
/// How long a key with the scope `admin` works.
pub const ADMIN_KEY_LIFE: EpochMs = 8 * HOUR;

/// Letters that are hard to confuse and form no words.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const LENGTH: usize = 8;

words! {
    /// The status of a login.
    DeviceLoginStatus:
    /// No user has decided yet.
    Pending = "pending",
    /// A user confirmed it; the key can be fetched, once.
    Approved = "approved",
    /// A user refused it.
    Denied = "denied",
    /// The key was fetched.
    Used = "used",
}

/// A login started by a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLogin {
    /// `login_…`.
    pub id: DeviceLoginId,
    /// Its progress, regardless of expiry.
    pub status: DeviceLoginStatus,
    /// The name of the future key.
    pub name: String,
    /// The scopes of the future key: those asked for, and after the decision those that were granted.
    pub scopes: Vec<Scope>,
    /// The client address that started it.
    pub address: String,
    /// The organization of the key, once a user has decided.
    pub org_id: Option<OrgId>,
    /// The user who decided.
    pub user_id: Option<UserId>,
    /// When it started.
    pub created_at: EpochMs,
    /// When it expires.
    pub expires_at: EpochMs,
}

impl DeviceLogin {
    /// Whether the future key has the scope `admin`.
    pub fn is_for_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    /// How long the future key works.
    pub fn key_life(&self) -> EpochMs {
        match self.is_for_admin() {
            true => ADMIN_KEY_LIFE,
            false => KEY_LIFE,
        }
    }
}

/// The code that the user compares: eight letters, written `WXYZ-WXYZ`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UserCode([u8; LENGTH]);

/// The text is not a valid code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the code must be eight letters, such as BCDF-GHJK")]
pub struct UserCodeError;

impl UserCode {
    /// A new code from random bytes.
    pub fn new(random: [u8; 8]) -> Self {
        let mut rest = u64::from_be_bytes(random);
        let mut letters = [0; LENGTH];
        for letter in &mut letters {
            // 20^8 is so much smaller than 2^64 that the bias is negligible.
            *letter = LETTERS[(rest % LETTERS.len() as u64) as usize];
            rest /= LETTERS.len() as u64;
        }
        Self(letters)
    }
}

impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (front, back) = self.0.split_at(LENGTH / 2);
        let text = |letters| std::str::from_utf8(letters).unwrap_or_default();
        write!(f, "{}-{}", text(front), text(back))
    }
}

impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserCode(…)")
    }
}

impl FromStr for UserCode {
    type Err = UserCodeError;

    /// Parses a code as people type it: in any letter case, with or without the dash, with spaces.
    fn from_str(text: &str) -> Result<Self, UserCodeError> {
        let typed = text.chars().filter(|letter| !matches!(letter, '-' | ' '));
        let letters: Option<Vec<u8>> = typed
            .take(LENGTH + 1)
            .map(|letter| u8::try_from(letter.to_ascii_uppercase()).ok())
            .collect();
        let letters = letters.ok_or(UserCodeError)?;
        let code: [u8; LENGTH] = letters.try_into().map_err(|_| UserCodeError)?;
        match code.iter().all(|letter| LETTERS.contains(letter)) {
            true => Ok(Self(code)),
            false => Err(UserCodeError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_a_code_as_people_type_it() {
        let code: UserCode = "BCDF-GHJK".parse().expect("a code");
        for typed in ["bcdfghjk", " bcdf ghjk ", "BCDFGHJK", "b-c-d-f-g-h-j-k"] {
            assert_eq!(typed.parse(), Ok(code), "{typed}");
        }
        for other in ["", "BCDF-GHJ", "BCDF-GHJKL", "BCDF-GHJA", "BCDF-GHJ1", "BCDF-GHJÉ"] {
            assert_eq!(other.parse::<UserCode>(), Err(UserCodeError), "{other}");
        }
        assert_eq!(format!("{code:?}"), "UserCode(…)");
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(random: [u8; 8]) {
            let code = UserCode::new(random);
            prop_assert_eq!(code.to_string().parse(), Ok(code));
        }
    }
}
