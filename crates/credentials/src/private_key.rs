//! Private keys (PKCS#8, RFC 5208): parsed, validated, and their public half computed.

use crypto_bigint::{BoxedUint, ConcatenatingMul, Integer, NonZero};
use zeroize::Zeroizing;

use crate::asn1::{OCTET_STRING, Reader, SEQUENCE, context, only, without_leading_zeros};
use crate::parse_error::{MalformedError, ParseError};
use crate::public_key::{Curve, EC, MAX_RSA_BITS, PublicKey, RSA, key_name};

/// The public half of a private key in PKCS#8. Checks that the parts of the key are consistent.
pub(crate) fn public_half(pkcs8: &[u8]) -> Result<PublicKey, ParseError> {
    let mut key = only(pkcs8, SEQUENCE)?.children();
    key.take_number()?;
    let (algorithm, parameters) = key.take_algorithm()?;
    let inner = key.take_octets(OCTET_STRING)?;
    match algorithm.as_str() {
        RSA => rsa(&inner),
        EC => ec(&inner, parameters),
        other => Err(ParseError::Unsupported(key_name(other))),
    }
}

/// An RSAPrivateKey (RFC 8017): the modulus must be the product of the primes, and the exponents must be inverse.
fn rsa(bytes: &[u8]) -> Result<PublicKey, ParseError> {
    let mut numbers = only(bytes, SEQUENCE)?.children();
    if numbers.take_number()? != 0 {
        return Err(ParseError::Unsupported("an RSA key of more than two primes".to_owned()));
    }
    let (modulus, exponent) = (numbers.take_unsigned()?, numbers.take_unsigned()?);
    let public = PublicKey::rsa(modulus, exponent)?;
    let private = number(numbers.take_unsigned()?)?;
    let primes = [number(numbers.take_unsigned()?)?, number(numbers.take_unsigned()?)?];

    let (modulus, exponent) = (number(modulus)?, number(exponent)?);
    let product = primes[0].concatenating_mul(&*primes[1]);
    let undone = Zeroizing::new(private.concatenating_mul(&*exponent));
    let one = BoxedUint::one();
    let agrees = |prime: &BoxedUint| {
        // A prime is odd, so subtracting 1 only clears the last bit.
        let before = prime.wrapping_sub(&one);
        let is_odd = bool::from(prime.is_odd());
        Option::<NonZero<BoxedUint>>::from(NonZero::new(before))
            .is_some_and(|before| is_odd && undone.rem(&before) == one)
    };
    if product != *modulus || !primes.iter().all(|prime| agrees(prime)) {
        return Err(ParseError::MalformedError);
    }
    Ok(public)
}

fn number(bytes: &[u8]) -> Result<Zeroizing<BoxedUint>, MalformedError> {
    if bytes.len() * 8 > MAX_RSA_BITS {
        return Err(MalformedError);
    }
    Ok(Zeroizing::new(BoxedUint::from_be_slice_vartime(bytes)))
}

/// An ECPrivateKey (RFC 5915). An included public key must match the private one.
fn ec(bytes: &[u8], parameters: Reader<'_>) -> Result<PublicKey, ParseError> {
    let mut key = only(bytes, SEQUENCE)?.children();
    key.take_number()?;
    let scalar = key.take_octets(OCTET_STRING)?;
    let inner = key.take_if(context(0))?;
    let curve = match inner {
        Some(inner) if parameters.peek().is_none() => Curve::read(inner.children())?,
        _ => Curve::read(parameters)?,
    };
    let public = multiply(curve, &scalar)?;
    if let Some(beside) = key.take_if(context(1))?
        && curve.public(beside.children().take_bits()?)? != public
    {
        return Err(ParseError::MalformedError);
    }
    Ok(public)
}

/// The public key of a private scalar.
fn multiply(curve: Curve, scalar: &[u8]) -> Result<PublicKey, ParseError> {
    // Old programs omit leading zeros or add one.
    let digits = without_leading_zeros(scalar);
    let missing = curve.field_bytes().checked_sub(digits.len()).ok_or(MalformedError)?;
    let mut padded = Zeroizing::new(vec![0; missing]);
    padded.extend(digits);
    let point = match curve {
        Curve::P256 => p256::SecretKey::from_slice(&padded).map(|key| key.public_key().to_sec1_bytes()),
        Curve::P384 => p384::SecretKey::from_slice(&padded).map(|key| key.public_key().to_sec1_bytes()),
        Curve::P521 => p521::SecretKey::from_slice(&padded).map(|key| key.public_key().to_sec1_bytes()),
    };
    let point = point.map_err(|_| MalformedError)?;
    Ok(PublicKey::Ec {
        curve,
        point: point.into(),
    })
}
