// What one file of metadata says about another: its version, and sometimes its length and hashes.

struct MetaFile {
    let version: Int

    private let length: Int?
    /// By the name of the algorithm; nil if none is listed.
    private let hashes: TextMap<String>?

    init(_ value: JsonValue) throws {
        let fields = try Fields(value, "meta")
        version = try fields.positive("version")
        length = fields.has("length") ? try fields.count("length") : nil
        hashes = fields.has("hashes") ? try Self.readHashes(fields) : nil
    }

    /// Reads the field `hashes`: at least one, each a text.
    static func readHashes(_ fields: Fields) throws -> TextMap<String> {
        let listed = try fields.object("hashes")
        guard !listed.members.isEmpty else {
            throw FormError.field("hashes")
        }
        return try listed.members.mapValues { hash in
            guard let text = hash.asText else {
                throw FormError.field("hashes")
            }
            return text
        }
    }

    /// Whether the bytes have the length and hash that are listed. Of the hashes only SHA-256 counts, and one must be there.
    func isOf(_ bytes: [UInt8]) -> Bool {
        guard length == nil || length == bytes.count else {
            return false
        }
        guard let hashes = hashes else {
            return true
        }
        return hashes["sha256"]?.isExactly(Sha256.of(bytes).hex) ?? false
    }

    /// Whether this is the file that is listed.
    func isOf<Body>(_ file: Metadata<Body>) -> Bool {
        file.version == version && isOf(file.bytes)
    }
}
