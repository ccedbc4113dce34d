// Targets: the updates that a role signed, the roles that it delegates to, and what it revoked.

struct Targets: MetadataBody {
    static let type = "targets"
    static let limit = 64 << 10

    private static let maxRevoked = 32
    private static let revokedField = "x-revoked"

    /// Targets by path.
    let targets: TextMap<SignedTarget>
    /// In the order in which a target is looked for; nil if it does not delegate at all.
    let delegations: [Delegation]?
    /// The hashes of packages that no phone starts, in the order in which they were revoked.
    let revoked: [Sha256]

    init(signed: Fields) throws {
        targets = try signed.object("targets").members.mapValues(SignedTarget.init)
        delegations = signed.has("delegations") ? try Self.readDelegations(signed.object("delegations")) : nil
        revoked = try Self.readRevoked(signed)
    }

    /// The delegation to the role of this name; nil if there is none.
    func delegation(_ name: String) -> Delegation? {
        delegations?.first { $0.name.isExactly(name) }
    }

    /// No name occurs twice, and none is that of a top-level role.
    private static func readDelegations(_ fields: Fields) throws -> [Delegation] {
        let keys = try Keys(fields)
        var taken = Set(TopLevel.allCases.map { ExactText($0.rawValue) })
        guard fields.has("roles") else {
            return []
        }
        return try fields.array("roles").map { item in
            let delegation = try Delegation(Fields(item, "roles"), keys: keys)
            guard taken.insert(ExactText(delegation.name)).inserted else {
                throw FormError.field("roles")
            }
            return delegation
        }
    }

    /// An unreadable list makes the file invalid: ignoring it would let a phone start what was revoked.
    private static func readRevoked(_ fields: Fields) throws -> [Sha256] {
        guard fields.has(revokedField) else {
            return []
        }
        let texts = try fields.texts(revokedField)
        guard texts.count <= maxRevoked else {
            throw FormError.field(revokedField)
        }
        return try fields.digests(revokedField)
    }
}
