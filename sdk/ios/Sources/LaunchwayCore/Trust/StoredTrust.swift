// What a phone keeps of its trust: the trusted files, the learned floors, and the chain of roots, as JSON.

struct StoredTrust {
    private static let maxBytes = 2 << 20
    private static let stored = "stored"

    let repository: String
    let root: String
    /// The hash of the `signed` of each root that was trusted, by version, since the one that the app carries.
    let lineage: [Int: Sha256]
    let floors: TextMap<Floor>
    /// Nil before there is one. So are the next two.
    let timestamp: String?
    let snapshot: String?
    let targets: String?
    let roles: TextMap<String>

    init(_ trusted: TrustedMetadata, repository: String, floors: TextMap<Floor>, lineage: [Int: Sha256]) {
        self.repository = repository
        root = trusted.root.text
        self.lineage = lineage
        self.floors = floors
        timestamp = trusted.timestamp?.text
        snapshot = trusted.snapshot?.text
        targets = trusted.targets?.text
        roles = trusted.roles.mapValues(\.text)
    }

    /// Reads what `toJson` wrote. After an error the phone begins with what the app carries.
    static func parse(_ json: String) throws -> StoredTrust {
        try StoredTrust(Fields(JsonReader.read(Utf8.encode(json), limit: maxBytes), stored))
    }

    private init(_ fields: Fields) throws {
        repository = try fields.text("repository")
        guard Identity.isRepositoryId(repository) else {
            throw FormError.field(Self.stored)
        }
        root = try fields.text("root")
        var lineage: [Int: Sha256] = [:]
        for (version, text) in try Self.texts(fields.object("lineage")).ordered {
            guard let number = Int(version), let signed = Sha256(text) else {
                throw FormError.field(Self.stored)
            }
            lineage[number] = signed
        }
        self.lineage = lineage
        floors = try fields.object("floors").members.mapValues(Floor.init)
        timestamp = try fields.optionalText("timestamp")
        snapshot = try fields.optionalText("snapshot")
        targets = try fields.optionalText("targets")
        roles = try Self.texts(fields.object("roles"))
    }

    private static func texts(_ fields: Fields) throws -> TextMap<String> {
        var texts = TextMap<String>()
        for name in fields.members.names {
            texts[name] = try fields.text(name)
        }
        return texts
    }

    /// The JSON to keep.
    func toJson() -> String {
        var chain: JsonMembers = [:]
        for (version, signed) in lineage {
            chain[String(version)] = .text(signed.hex)
        }
        var members: JsonMembers = [
            "floors": .object(floors.mapValues(\.json)),
            "lineage": .object(chain),
            "repository": .text(repository),
            "roles": .object(roles.mapValues(JsonValue.text)),
            "root": .text(root),
        ]
        members["timestamp"] = timestamp.map(JsonValue.text)
        members["snapshot"] = snapshot.map(JsonValue.text)
        members["targets"] = targets.map(JsonValue.text)
        return JsonWriter.ascii(.object(members))
    }
}
