// What is remembered of one role: the highest version that was trusted.

struct Floor {
    let version: Int
    /// The ids of the keys that could sign it.
    let keys: Set<ExactText>
    /// What it revoked.
    var revoked: [Sha256]

    init(version: Int, keys: Set<ExactText>, revoked: [Sha256]) {
        self.version = version
        self.keys = keys
        self.revoked = revoked
    }

    init(_ value: JsonValue) throws {
        let fields = try Fields(value, "floors")
        version = try fields.positive("version")
        keys = Set(try fields.texts("keys").map(ExactText.init))
        revoked = try fields.digests("revoked")
    }

    var json: JsonValue {
        .object([
            "keys": .texts(keys.sorted().map(\.text)),
            "revoked": .texts(revoked.map(\.hex)),
            "version": .integer(version),
        ])
    }
}
