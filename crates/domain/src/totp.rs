//! Codes of authenticator apps: TOTP (RFC 6238) with HMAC-SHA-1, six digits and steps of 30 seconds, which every app supports;
//! and recovery codes for users who lost the app.

use std::str::FromStr;

use data_encoding::BASE32_NOPAD;
use totp_rs::{Algorithm, Builder, Token, Totp};
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

/// The secret that an authenticator app and the server share. It is never printed.
pub struct Secret(Totp);

/// Six digits that a user typed. They are never printed.
#[derive(Clone, Copy)]
pub struct Code([u8; DIGITS]);

/// The text is not a code of six digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the six digits that the app shows")]
pub struct TotpError;

impl FromStr for Code {
    type Err = TotpError;

    /// Parses six digits; whitespace is ignored.
    fn from_str(text: &str) -> Result<Self, TotpError> {
        let digits: Zeroizing<String> = Zeroizing::new(text.chars().filter(|letter| !letter.is_whitespace()).collect());
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        let code = digits.as_bytes().try_into().map(Code).map_err(|_| TotpError)?;
        all_digits.then_some(code).ok_or(TotpError)
    }
}

impl Secret {
    /// Makes a secret of random bytes.
    pub fn new(bytes: Zeroizing<[u8; SECRET_BYTES]>) -> Secret {
        let totp = Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(DIGITS as u8)
            .with_step_duration((STEP / SECOND) as u64)
            // `step_of` asks for each step of its own.
            .with_skew(0)
            .with_secret(totp_rs::Secret::new_stack(*bytes));
        Secret(totp.build().expect("digits, step and length are those of the standard"))
    }

    /// Restores a stored secret; `None` if the length is wrong.
    pub fn read(bytes: &[u8]) -> Option<Secret> {
        let mut kept = Zeroizing::new([0; SECRET_BYTES]);
        if bytes.len() != kept.len() {
            return None;
        }
        kept.copy_from_slice(bytes);
        Some(Secret::new(kept))
    }

    /// The bytes, for sealing.
    pub fn bytes(&self) -> &[u8] {
        self.0.secret().as_bytes()
    }

    /// The secret as text for users who cannot scan: base32 without padding (RFC 4648).
    pub fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(BASE32_NOPAD.encode(self.bytes()))
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
        let typed = str::from_utf8(&code.0).ok()?;
        let present = now.div_euclid(STEP);
        let mut found = None;
        // All steps are compared, so that the time does not reveal which one matched.
        for step in present.saturating_sub(DRIFT)..=present.saturating_add(DRIFT) {
            let matches = seconds(step).is_some_and(|seconds| self.0.check(typed, seconds).is_some());
            if matches && step > used {
                found = Some(step);
            }
        }
        found
    }

    /// The code that an app displays at `now`; that of 1970 for times before.
    pub fn display_code(&self, now: EpochMs) -> Zeroizing<String> {
        let token: Token = self.0.generate(seconds(now.div_euclid(STEP)).unwrap_or(0));
        Zeroizing::new(token.to_string())
    }
}

/// When a step begins, in epoch seconds; `None` before 1970.
fn seconds(step: i64) -> Option<u64> {
    u64::try_from(step.checked_mul(STEP / SECOND)?).ok()
}

/// A recovery code in its display form: 80 random bits in four groups.
pub fn recovery_code(random: &[u8; RECOVERY_BYTES]) -> Zeroizing<String> {
    let letters = Zeroizing::new(BASE32_NOPAD.encode(random));
    let groups = [&letters[..4], &letters[4..8], &letters[8..12], &letters[12..]];
    Zeroizing::new(groups.join("-"))
}

/// Normalizes a typed recovery code for hashing, regardless of letter case, whitespace and dashes. `None` if it is invalid.
pub fn normalize_recovery_code(text: &str) -> Option<Zeroizing<String>> {
    let letters = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    let letters: Zeroizing<String> = Zeroizing::new(letters.map(|letter| letter.to_ascii_uppercase()).collect());
    let bytes = Zeroizing::new(BASE32_NOPAD.decode(letters.as_bytes()).ok()?);
    (bytes.len() == RECOVERY_BYTES).then_some(letters)
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
    fn a_clock_at_its_limits_accepts_no_code_and_does_not_panic() {
        for now in [i64::MIN, -1, 0, i64::MAX] {
            let shown = secret().display_code(now);
            assert_eq!(shown.len(), DIGITS, "{now}");
            assert_eq!(secret().step_of(code("081804"), now, i64::MIN), None, "{now}");
        }
        // At the start of 1970 the step before it does not exist.
        let first = code(&secret().display_code(0));
        assert_eq!(secret().step_of(first, 0, -1), Some(0));
        assert_eq!(secret().step_of(first, -1, -1), Some(0));
        assert_eq!(secret().step_of(first, -1 - STEP, -1), None);
    }

    #[test]
    fn six_digits_are_read() {
        for text in ["081804", " 081 804 ", "0 8 1 8 0 4"] {
            assert_eq!(text.parse::<Code>().map(|code| code.0), Ok(*b"081804"), "{text}");
        }
        for text in ["", "08180", "0818041", "08180a", "+81804", "٠٨١٨٠٤", "081-804"] {
            assert_eq!(text.parse::<Code>().err(), Some(TotpError), "{text}");
        }
    }

    /// The URI is our own: the library orders its parameters otherwise, and omits those that have the default value.
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
            "MZXW6YTBOJTG633C=",
            "MZXW6YTBOJTG63",
            "MZXW6YTBOJTG633é",
            "MZXW6YTBOJTG6338",
            "MZXW-6YTB-OJTG-633",
            "MZXW-6YTB-OJTG-633C-A",
            "MZXW-6YTB-OJTG-6331",
        ] {
            assert!(normalize_recovery_code(typed).is_none(), "{typed}");
        }
    }
}
