// A target: fetched under the name of a hash, checked, and kept under its own name.
import Foundation
import libcrypto

@testable import LaunchwayCore

struct Artifact {
    let name: String
    let target: SignedTarget

    /// Fetches the target, unless its file is there already.
    func download(_ arguments: Arguments) throws {
        let path = "\(arguments.targetFolder)/\(PercentEncoding.encode(name))"
        if let kept = try? readFile(path), isSigned(kept) {
            return
        }
        guard let hash = target.hashes.ordered.first?.value, target.length <= 64 << 20 else {
            throw Failure("\(name) has no hash, or is too long")
        }
        var parts = name.components(separatedBy: "/").map(PercentEncoding.encode)
        parts.append("\(hash).\(parts.removeLast())")
        let url = "\(arguments.targetUrl)/\(parts.joined(separator: "/"))"
        guard let bytes = try fetch(url, limit: target.length), isSigned(bytes) else {
            throw Failure("\(name) is missing, or another one than was signed")
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Every hash of a known algorithm must fit, and there must be one.
    private func isSigned(_ bytes: [UInt8]) -> Bool {
        let fits = [("sha256", EVP_sha256()), ("sha512", EVP_sha512())].compactMap { algorithm, function in
            target.hashes[algorithm].map { $0.isExactly(Self.digest(bytes, function)) }
        }
        return bytes.count == target.length && !fits.isEmpty && !fits.contains(false)
    }

    private static func digest(_ bytes: [UInt8], _ function: OpaquePointer?) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        EVP_Digest(bytes, bytes.count, &digest, &count, function, nil)
        return Hex.encode(Array(digest.prefix(Int(count))))
    }
}
