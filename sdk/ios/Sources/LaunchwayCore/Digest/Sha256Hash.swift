// A SHA-256 hash that is fed piece by piece: CryptoKit's, or libcrypto's where that is missing.

#if canImport(CryptoKit)
import CryptoKit

struct Sha256Hash {
    private var hash = SHA256()

    mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    func finish() -> Sha256 {
        guard let digest = Sha256(bytes: Array(hash.finalize())) else {
            preconditionFailure("a SHA-256 digest has 32 bytes")
        }
        return digest
    }
}
#else
import libcrypto

struct Sha256Hash {
    /// Freed with the last copy. Copies share it, so a hash that was copied must not be fed any more.
    private final class Context {
        let pointer: OpaquePointer

        init() {
            guard let pointer = EVP_MD_CTX_new(), EVP_DigestInit_ex(pointer, EVP_sha256(), nil) == 1 else {
                preconditionFailure("libcrypto lacks SHA-256")
            }
            self.pointer = pointer
        }

        deinit {
            EVP_MD_CTX_free(pointer)
        }
    }

    private let context = Context()

    mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { feed($0) }
    }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { feed($0) }
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context.pointer, bytes.baseAddress, bytes.count) == 1)
    }

    func finish() -> Sha256 {
        var bytes = [UInt8](repeating: 0, count: 32)
        let finished = EVP_DigestFinal_ex(context.pointer, &bytes, nil)
        guard finished == 1, let digest = Sha256(bytes: bytes) else {
            preconditionFailure("a SHA-256 digest has 32 bytes")
        }
        return digest
    }
}
#endif
