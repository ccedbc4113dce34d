// The answer to `/tuf/{bundleId}/trust`: everything that is newer than what a client has, in one trip
// (docs/reference/trust.md#one-trip). The server writes it, and nothing of it is trusted.

struct TrustAnswer {
    /// The most bytes that are read: all files at their limits, each escaped.
    static let maxBytes = 2 << 20
    /// Who has more roots to go asks again.
    private static let maxRoots = 16

    /// The roots above the client's, in order.
    let roots: [String]

    private let topLevel: TextMap<String>
    private let delegated: TextMap<String>

    /// Reads an answer. Fields that are not known are left alone.
    static func parse(_ bytes: [UInt8]) throws -> TrustAnswer {
        try TrustAnswer(Fields(JsonReader.read(bytes, limit: maxBytes), "answer"))
    }

    private init(_ fields: Fields) throws {
        roots = fields.has("roots") ? try fields.texts("roots") : []
        guard roots.count <= Self.maxRoots else {
            throw FormError.field("roots")
        }
        var topLevel = TextMap<String>()
        for name in ["timestamp", "snapshot", "targets"] {
            topLevel[name] = try fields.optionalText(name)
        }
        self.topLevel = topLevel
        var delegated = TextMap<String>()
        if fields.has("delegated") {
            let files = try fields.object("delegated")
            for name in files.members.names {
                delegated[name] = try files.text(name)
            }
        }
        self.delegated = delegated
    }

    var isFullOfRoots: Bool { roots.count == Self.maxRoots }

    /// The text of a file other than a root; nil if the answer lacks it.
    func file(_ request: FileRequest) -> String? {
        if case .role(let name, _) = request {
            return delegated[name]
        }
        return topLevel[request.role]
    }
}
