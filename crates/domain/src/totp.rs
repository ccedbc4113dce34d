//! Codes of authenticator apps: TOTP (RFC 6238) with HMAC-SHA-1, six digits and steps of 30 seconds, which every app supports;
//! and recovery codes for users who lost the app.

use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use zeroize::Zeroizing;

use crate::percent;
use crate::time::{EpochMs, SECOND};

/// Length of a secret in bytes, as RFC 4226 recommends.
pub const SECRET_BYTES: usize = 20;
/// Number of recovery codes of a user.
pub const RECOVERY_CODES: usize = 10;
/// Random bytes in a recovery code.
pub const RECOVERY_BYTES: usize = 10;

const STEP: EpochMs = 30 * SECOND;
/// Steps before and after the current one whose codes are accepted, for inaccurate clocks.
const DRIFT: i64 = 1;
const DIGITS: usize = 6;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret that an authenticator app and the server share. It is never printed.
pub struct Secret(Zeroizing<[u8; SECRET_BYTES]>);

/// Six digits that a user typed. They are never printed.
#[derive(Clone, Copy)]
pub struct Code(u32);

/// The text is not a code of six digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the six digits that the app shows")]
pub struct TotpError;

impl FromStr for Code {
    type Err = TotpError;

    /// Parses six digits; whitespace is ignored.
    fn from_str(text: &str) -> Result<Self, TotpError> {
        let digits: Zeroizing<String> = Zeroizing::new(text.chars().filter(|letter| !letter.is_whitespace()).collect());
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(TotpError);
        }
        digits.parse().map(Code).map_err(|_| TotpError)
    }
}

impl Secret {
    /// Makes a secret of random bytes.
    pub fn new(bytes: Zeroizing<[u8; SECRET_BYTES]>) -> Secret {
        Secret(bytes)
    }

    /// Restores a stored secret; `None` if the length is wrong.
    pub fn read(bytes: &[u8]) -> Option<Secret> {
        let mut kept = Zeroizing::new([0; SECRET_BYTES]);
        if bytes.len() != kept.len() {
            return None;
        }
        kept.copy_from_slice(bytes);
        Some(Secret(kept))
    }

    /// The bytes, for sealing.
    pub fn bytes(&self) -> &[u8] {
        &*self.0
    }

    /// The secret as text for users who cannot scan: base32 without padding (RFC 4648).
    pub fn text(&self) -> Zeroizing<String> {
        base32(&*self.0)
    }

    /// The content of the QR code: a key URI for authenticator apps. `account` is the user's address.
    pub fn uri(&self, account: &str) -> Zeroizing<String> {
        Zeroizing::new(format!(
            "otpauth://totp/Launchway:{}?secret={}&issuer=Launchway&algorithm=SHA1&digits={DIGITS}&period={}",
            percent::encode(account),
            *self.text(),
            STEP / SECOND
        ))
    }

    /// The step that this code belongs to at `now`: the current one or an adjacent one, and later than `used`, the last
    /// step whose code was accepted. `None` if the code belongs to none of them.
    pub fn step_of(&self, code: Code, now: EpochMs, used: i64) -> Option<i64> {
        let present = now.div_euclid(STEP);
        let mut found = None;
        // All steps are compared, so that the time does not reveal which one matched.
        for step in present - DRIFT..=present + DRIFT {
            if self.code_at(step) == code.0 && step > used {
                found = Some(step);
            }
        }
        found
    }

    /// The code that an app displays at `now`.
    pub fn display_code(&self, now: EpochMs) -> Zeroizing<String> {
        Zeroizing::new(format!("{:06}", self.code_at(now.div_euclid(STEP))))
    }

    /// The value of a step (RFC 4226, section 5.3).
    fn code_at(&self, step: i64) -> u32 {
        let mut mac = Hmac::<Sha1>::new_from_slice(&*self.0).expect("HMAC takes keys of any length");
        mac.update(&step.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let at = usize::from(hash[19] & 0xf);
        let word = u32::from_be_bytes([hash[at], hash[at + 1], hash[at + 2], hash[at + 3]]);
        (word & 0x7fff_ffff) % 1_000_000
    }
}

/// A recovery code in its display form: 80 random bits in four groups.
pub fn recovery_code(random: &[u8; RECOVERY_BYTES]) -> Zeroizing<String> {
    let letters = base32(random);
    let groups = [&letters[..4], &letters[4..8], &letters[8..12], &letters[12..]];
    Zeroizing::new(groups.join("-"))
}

/// Normalizes a typed recovery code for hashing, regardless of letter case, whitespace and dashes. `None` if it is invalid.
pub fn normalize_recovery_code(text: &str) -> Option<Zeroizing<String>> {
    let letters = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    let letters: Zeroizing<String> = Zeroizing::new(letters.map(|letter| letter.to_ascii_uppercase()).collect());
    let is_code = letters.len() == RECOVERY_BYTES * 8 / 5 && letters.bytes().all(|byte| BASE32.contains(&byte));
    is_code.then_some(letters)
}

fn base32(bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(5) * 8));
    for part in bytes.chunks(5) {
        let mut word = [0; 8];
        word[3..3 + part.len()].copy_from_slice(part);
        let word = u64::from_be_bytes(word);
        for at in 0..(part.len() * 8).div_ceil(5) {
            let value = (word >> (35 - 5 * at)) & 31;
            text.push(char::from(BASE32[value as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::new(Zeroizing::new(*b"12345678901234567890"))
    }

    fn code(text: &str) -> Code {
        text.parse().expect("six digits")
    }

    /// The values of RFC 6238, appendix B; their last six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(*secret().display_code(seconds * SECOND), expected, "{seconds}");
        }
    }

    #[test]
    fn a_code_counts_one_step_off_and_only_after_the_last_one() {
        let (secret, now) = (secret(), 1_111_111_109 * SECOND);
        let step = now / STEP;
        let shown = code("081804");
        for (steps, counts) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let found = secret.step_of(shown, now + steps * STEP, 0);
            assert_eq!(found, counts.then_some(step), "{steps}");
        }
        assert_eq!(secret.step_of(shown, now, step - 1), Some(step));
        assert_eq!(secret.step_of(shown, now, step), None, "used before");
        assert_eq!(secret.step_of(code("081805"), now, 0), None);
    }

    #[test]
    fn six_digits_are_read() {
        for text in ["081804", " 081 804 ", "0 8 1 8 0 4"] {
            assert_eq!(text.parse::<Code>().map(|code| code.0), Ok(81804), "{text}");
        }
        for text in ["", "08180", "0818041", "08180a", "+81804", "٠٨١٨٠٤", "081-804"] {
            assert_eq!(text.parse::<Code>().err(), Some(TotpError), "{text}");
        }
    }

    #[test]
    fn a_secret_is_told_as_apps_read_it() {
        let text = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        assert_eq!(*secret().text(), text);
        let expected = "otpauth://totp/Launchway:ada%2Btest%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
                        &issuer=Launchway&algorithm=SHA1&digits=6&period=30";
        assert_eq!(*secret().uri("ada+test@example.com"), expected);
        assert_eq!(
            Secret::read(secret().bytes()).map(|read| read.text().to_string()),
            Some(text.to_owned())
        );
        assert!(Secret::read(b"short").is_none());
    }

    /// The values of RFC 4648, section 10, without padding.
    #[test]
    fn base32_is_that_of_the_standard() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(*base32(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn a_recovery_code_is_found_however_it_is_typed() {
        let shown = recovery_code(b"foobarfoob");
        assert_eq!(*shown, "MZXW-6YTB-OJTG-633C");
        for typed in ["MZXW-6YTB-OJTG-633C", "mzxw6ytbojtg633c", " mzxw 6ytb ojtg 633c "] {
            let normal = normalize_recovery_code(typed).map(|code| code.to_string());
            assert_eq!(normal.as_deref(), Some("MZXW6YTBOJTG633C"), "{typed}");
        }
        for typed in [
            "",
            "081804",
            "MZXW-6YTB-OJTG-633",
            "MZXW-6YTB-OJTG-633C-A",
            "MZXW-6YTB-OJTG-6331",
        ] {
            assert!(normalize_recovery_code(typed).is_none(), "{typed}");
        }
    }
}
