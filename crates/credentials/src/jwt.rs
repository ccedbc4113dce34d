//! JSON Web Tokens (RFC 7515, RFC 7519): signs and verifies ES256 and RS256, nothing else. The key decides how a token is
//! verified, whatever the token states about itself, and claims are parsed only after that.

mod signing;
mod verifying;

pub use signing::{Es256Key, Rs256Key};
pub use verifying::{Jwk, JwtError, Token, VerifyingKey};

#[cfg(test)]
mod tests;
