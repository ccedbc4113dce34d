"""Public keys and signatures, good ones and bad ones."""

import base64

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
MESSAGES = ["", "a message", "é\n\"\\", "x" * 300]


def pem(key):
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def compressed(key):
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)
    info = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200") + point
    return f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(info).decode()}\n-----END PUBLIC KEY-----\n"


def public_keys(key):
    good, body = pem(key), "".join(pem(key).splitlines()[1:-1])
    off_curve = base64.b64decode(body)[:-1] + bytes([base64.b64decode(body)[-1] ^ 1])
    off_curve = good.replace("".join(good.splitlines(True)[1:-1]), base64.b64encode(off_curve).decode() + "\n")
    refused = {
        "RSA": pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        "Ed25519": pem(ed25519.Ed25519PrivateKey.generate()),
        "P-384": pem(ec.generate_private_key(ec.SECP384R1())),
        "secp256k1": pem(ec.generate_private_key(ec.SECP256K1())),
        "a compressed point": compressed(key),
        "another label": good.replace("PUBLIC KEY", "EC PUBLIC KEY"),
        "no armor": body,
        "two keys": good + good,
        "bytes after the key": good.replace(body[-4:], base64.b64encode(base64.b64decode(body)[-3:] + b"\0").decode()),
        "nothing": "",
    }
    return {
        "accepted": [good, good.replace("\n", "\r\n"), good.strip(), f"\n{good}\n"],
        "refused": [{"name": name, "pem": text} for name, text in refused.items()],
        "verifiesNothing": off_curve,
    }


def vectors():
    key, other = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    algorithm = ec.ECDSA(hashes.SHA256())
    cases = []

    def case(name, message, signature, valid):
        text = signature if isinstance(signature, str) else signature.hex()
        cases.append({"name": name, "message": message, "signature": text, "valid": valid})

    for message in MESSAGES:
        case("a signature", message, key.sign(message.encode(), algorithm), True)
    message = MESSAGES[1]
    good = key.sign(message.encode(), algorithm)
    r, s = decode_dss_signature(good)
    raw = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    case("the other root of the same signature", message, encode_dss_signature(r, ORDER - s), True)
    case("of another key", message, other.sign(message.encode(), algorithm), False)
    case("over another message", message, key.sign(b"another message", algorithm), False)
    case("over SHA-384", message, key.sign(message.encode(), ec.ECDSA(hashes.SHA384())), False)
    case("raw instead of DER", message, raw, False)
    case("upper-case digits", message, good.hex().upper(), False)
    case("an odd number of digits", message, good.hex()[:-1], False)
    case("a byte more", message, good + b"\0", False)
    case("a byte less", message, good[:-1], False)
    case("zeros", message, encode_dss_signature(0, 0), False)
    case("r of zero", message, encode_dss_signature(0, s), False)
    case("r and s swapped", message, encode_dss_signature(s, r), False)
    case("s above the order", message, encode_dss_signature(r, s + ORDER), False)
    case("base64", message, base64.b64encode(good).decode(), False)
    case("white space", message, " " + good.hex(), False)
    case("nothing", message, "", False)
    return {"publicKey": pem(key), "signatures": cases, "publicKeys": public_keys(key)}
