// ECDSA with SHA-256 on P-256: CryptoKit's, or libcrypto's where that is missing.

#if canImport(CryptoKit)
import CryptoKit
import Foundation

enum Ecdsa {
    /// Whether the key of this uncompressed point made the signature, in DER, over the message.
    static func verifies(_ message: [UInt8], _ signature: [UInt8], point: [UInt8]) -> Bool {
        // The initialisers for PEM and DER are newer than iOS 13.
        guard let key = try? P256.Signing.PublicKey(x963Representation: point),
            let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else {
            return false
        }
        return key.isValidSignature(parsed, for: SHA256.hash(data: message))
    }
}
#else
import libcrypto

enum Ecdsa {
    /// Whether the key of this uncompressed point made the signature, in DER, over the message.
    static func verifies(_ message: [UInt8], _ signature: [UInt8], point: [UInt8]) -> Bool {
        let info = PublicKey.infoPrefix + point
        let key = info.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, info.count)
        }
        // Reasons of refusals would pile up for the thread.
        defer { ERR_clear_error() }
        guard let key = key else {
            return false
        }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else {
            return false
        }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
            return false
        }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
#endif
