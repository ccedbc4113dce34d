// One target: the package that was signed under a path.

struct SignedTarget {
    /// The length in bytes.
    let length: Int
    /// The hashes by the name of the algorithm: at least one.
    let hashes: TextMap<String>
    /// What the application says about it; nil if that is nothing.
    let custom: JsonValue?

    init(_ value: JsonValue) throws {
        let fields = try Fields(value, "targets")
        length = try fields.count("length")
        hashes = try MetaFile.readHashes(fields)
        custom = fields.members["custom"]
    }

    /// Nil if none was signed.
    var sha256: Sha256? {
        hashes["sha256"].flatMap { Sha256($0) }
    }
}
