//! Tokens of the standard, of our own keys, and of attackers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Es256Key, Jwk, JwtError, Rs256Key, Token, VerifyingKey};

const P8: &str = include_str!("../../tests/fixtures/store-connect.p8");
const ACCOUNT: &str = include_str!("../../tests/fixtures/service-account.json");

/// RFC 7515, appendix A.3.
const ES256_OF_THE_STANDARD: &str = "eyJhbGciOiJFUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
/// RFC 7515, appendix A.2.
const RS256_OF_THE_STANDARD: &str = "eyJhbGciOiJSUzI1NiJ9.\
    eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
    cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ\
    cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e\
    OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

fn jwk(json: Value) -> Jwk {
    serde_json::from_value(json).expect("a key")
}

/// The key of appendix A.3.
fn ec_of_the_standard() -> Value {
    json!({
        "kty": "EC", "crv": "P-256", "kid": "ec", "use": "sig",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    })
}

/// The keys of both appendices.
fn keys_of_the_standard() -> [Jwk; 2] {
    [
        jwk(ec_of_the_standard()),
        jwk(json!({
            "kty": "RSA", "kid": "rsa", "e": "AQAB",
            "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS\
                  -pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Ca\
                  pHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54\
                  h4FRWyuXpoQ",
        })),
    ]
}

fn verify(token: &str, keys: &[Jwk]) -> Result<Value, JwtError> {
    Token::parse(token)?.verify_published(keys)
}

fn es256() -> Es256Key {
    Es256Key::from_pem(P8).expect("a key")
}

fn rs256() -> Rs256Key {
    let account: Value = serde_json::from_str(ACCOUNT).expect("JSON");
    Rs256Key::from_pem(account["private_key"].as_str().expect("a key")).expect("a key")
}

fn part(json: &str) -> String {
    URL_SAFE_NO_PAD.encode(json)
}

#[test]
fn tokens_of_the_standard_are_verified() {
    for token in [ES256_OF_THE_STANDARD, RS256_OF_THE_STANDARD] {
        let claims = verify(token, &keys_of_the_standard()).expect("a token");
        assert_eq!(claims["iss"], "joe");
        assert_eq!(claims["exp"], 1_300_819_380);
    }
}

#[test]
fn what_a_key_signs_only_that_key_verifies() {
    let claims = json!({"iss": "me", "n": 1});
    let (es256, rs256) = (es256(), rs256());
    let signed = [
        (es256.sign("one", &claims), es256.verifying_key(), rs256.verifying_key()),
        (
            rs256.sign("one", &claims).expect("randomness"),
            rs256.verifying_key(),
            es256.verifying_key(),
        ),
    ];
    for (text, own, other) in signed {
        let token = Token::parse(&text).expect("a token");
        assert_eq!(token.key_id(), Some("one"));
        assert_eq!(token.verify([other.clone(), own]), Ok(claims.clone()));
        assert_eq!(token.verify::<Value>([other]), Err(JwtError::UnknownKey));
        assert_eq!(token.verify::<Value>([]), Err(JwtError::UnknownKey));
        assert_eq!(
            verify(&text, &keys_of_the_standard()),
            Err(JwtError::UnknownKey),
            "of another name"
        );
    }
    let header = part(r#"{"alg":"ES256","kid":"one","typ":"JWT"}"#);
    assert_eq!(es256.sign("one", &claims).split_once('.').expect("parts").0, header);
}

/// What a signer states about itself decides nothing.
#[test]
fn a_token_does_not_choose_how_it_is_verified() {
    let (_, rest) = ES256_OF_THE_STANDARD.split_once('.').expect("parts");
    let (claims, signature) = rest.split_once('.').expect("parts");
    for (header, error) in [
        (r#"{"alg":"none"}"#, JwtError::UnknownKey),
        (r#"{"alg":"HS256"}"#, JwtError::UnknownKey),
        (r#"{"alg":"es256"}"#, JwtError::UnknownKey),
        (r#"{"alg":"ES384"}"#, JwtError::UnknownKey),
        (r#"{"alg":"RS256"}"#, JwtError::Signature),
        (r#"{"alg":"ES256","kid":"rsa"}"#, JwtError::UnknownKey),
        (r#"{"alg":"ES256","kid":"ec"}"#, JwtError::Signature),
        (r#"{"alg":"ES256" }"#, JwtError::Signature),
        (r#"{"alg":"ES256","crit":["exp"]}"#, JwtError::Malformed),
        (r#"{"alg":"none","alg":"ES256"}"#, JwtError::Malformed),
        (r#"{"alg":{"ES256":null}}"#, JwtError::Malformed),
        (r#"{"alg":["ES256"]}"#, JwtError::Malformed),
        (r#"{"alg":"ES256","kid":1}"#, JwtError::Malformed),
        (r#"{"kid":"ec"}"#, JwtError::Malformed),
        ("[]", JwtError::Malformed),
    ] {
        let token = format!("{}.{claims}.{signature}", part(header));
        assert_eq!(verify(&token, &keys_of_the_standard()), Err(error), "{header}");
    }
    let unsigned = format!("{}.{claims}.", part(r#"{"alg":"ES256"}"#));
    assert_eq!(verify(&unsigned, &keys_of_the_standard()), Err(JwtError::Signature));
}

#[test]
fn other_spellings_of_a_token_are_refused() {
    let good = ES256_OF_THE_STANDARD;
    for token in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        format!("{good}="),
        format!("{good}\n"),
        format!(" {good}"),
        format!("{good}.AA"),
        good.replacen('.', "..", 1),
        good.replace('-', "+").replace('_', "/"),
    ] {
        assert!(verify(&token, &keys_of_the_standard()).is_err(), "{token}");
    }
}

#[test]
fn keys_for_other_purposes_verify_nothing() {
    for (field, value) in [
        ("use", json!("enc")),
        ("crv", json!("P-384")),
        ("crv", Value::Null),
        ("kty", json!("oct")),
    ] {
        let mut key = ec_of_the_standard();
        key[field] = value;
        let refused = verify(ES256_OF_THE_STANDARD, &[jwk(key.clone())]);
        assert_eq!(refused, Err(JwtError::UnknownKey), "{key}");
    }
    for point in [vec![], vec![4; 65], vec![0; 1 << 16]] {
        let token = Token::parse(ES256_OF_THE_STANDARD).expect("a token");
        assert_eq!(
            token.verify::<Value>([VerifyingKey::Es256(point)]),
            Err(JwtError::Signature)
        );
    }
    let small = VerifyingKey::Rs256 {
        modulus: vec![255; 128],
        exponent: vec![3],
    };
    let huge = VerifyingKey::Rs256 {
        modulus: vec![255; 1 << 16],
        exponent: vec![255; 1 << 16],
    };
    let token = Token::parse(RS256_OF_THE_STANDARD).expect("a token");
    assert_eq!(token.verify::<Value>([small, huge]), Err(JwtError::Signature));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_token_is_refused(at: prop::sample::Index, to in "[A-Za-z0-9_.-]") {
        let at = at.index(ES256_OF_THE_STANDARD.len());
        let mut changed = ES256_OF_THE_STANDARD.to_owned();
        changed.replace_range(at..=at, &to);
        prop_assume!(changed != ES256_OF_THE_STANDARD);
        prop_assert!(verify(&changed, &keys_of_the_standard()).is_err(), "{}", changed);
    }
}
