// A key pair that signs metadata in tests: CryptoKit's, or libcrypto's where that is missing.
import Foundation

@testable import LaunchwayCore

#if canImport(CryptoKit)
import CryptoKit

final class TestSigner {
    private let key = P256.Signing.PrivateKey()

    /// `04`, X and Y.
    var point: [UInt8] {
        Array(key.publicKey.x963Representation)
    }

    /// The DER of a signature with SHA-256.
    func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? key.signature(for: SHA256.hash(data: message)) else {
            preconditionFailure("the key signs")
        }
        return Array(signature.derRepresentation)
    }
}
#else
import libcrypto

final class TestSigner {
    private let key: OpaquePointer

    init() {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_keygen(context, &made) == 1, let key = made
        else {
            preconditionFailure("libcrypto makes keys")
        }
        self.key = key
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// `04`, X and Y.
    var point: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PUBKEY(key, &bytes))
        defer { CRYPTO_free(bytes, #file, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: count).suffix(65))
    }

    /// The DER of a signature with SHA-256.
    func sign(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 80)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else {
            preconditionFailure("the key signs")
        }
        return Array(signature.prefix(count))
    }
}
#endif

extension TestSigner {
    var pem: String {
        Pem.encode(PublicKey.infoPrefix + point, label: "PUBLIC KEY")
    }

    /// The entry of the key in metadata.
    var listed: JsonValue {
        .object([
            "keytype": .text("ecdsa"), "scheme": .text("ecdsa-sha2-nistp256"), "keyval": .object(["public": .text(pem)]),
        ])
    }
}
