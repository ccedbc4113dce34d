// `launchway.trust.json`, which an app carries: where its trust begins (docs/reference/trust.md#the-trust-file).

struct TrustFile {
    private static let maxBytes = 256 << 10
    private static let known = Set(["floors", "repository", "revoked", "root"].map(ExactText.init))

    /// The root, as the text that was signed.
    let root: String
    /// The id of the repository.
    let repository: String
    /// The lowest version of roles that is taken.
    let floors: TextMap<Int>
    /// Packages that are never started.
    let revoked: Set<Sha256>

    static func parse(_ bytes: [UInt8]) throws -> TrustFile {
        try TrustFile(Fields(JsonReader.read(bytes, limit: maxBytes), "launchway.trust.json"))
    }

    private init(_ fields: Fields) throws {
        // A field that is not known may be one that forbids something.
        guard fields.members.names.allSatisfy({ Self.known.contains(ExactText($0)) }) else {
            throw FormError.field("launchway.trust.json")
        }
        root = try fields.text("root")
        repository = try fields.text("repository")
        guard Identity.isRepositoryId(repository) else {
            throw FormError.field("repository")
        }
        let listed = try fields.object("floors")
        var floors = TextMap<Int>()
        for role in listed.members.names {
            floors[role] = try listed.positive(role)
        }
        self.floors = floors
        revoked = Set(try fields.digests("revoked"))
    }
}
