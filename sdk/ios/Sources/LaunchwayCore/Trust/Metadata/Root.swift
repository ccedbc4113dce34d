// The root: the keys of all top-level roles.

struct Root: MetadataBody {
    static let type = "root"
    static let limit = 32 << 10

    private let keys: Keys
    private let roles: [TopLevel: RoleKeys]

    init(signed: Fields) throws {
        keys = try Keys(signed)
        let listed = try signed.object("roles")
        var roles: [TopLevel: RoleKeys] = [:]
        for role in TopLevel.allCases {
            guard let value = listed.members[role.rawValue] else {
                throw FormError.field("roles")
            }
            roles[role] = try RoleKeys(Fields(value, "roles"))
        }
        self.roles = roles
        if signed.has("consistent_snapshot") {
            _ = try signed.bool("consistent_snapshot")
        }
    }

    /// Who signs for a top-level role.
    func authority(_ role: TopLevel) -> Authority {
        guard let roleKeys = roles[role] else {
            preconditionFailure("a root has all top-level roles")
        }
        return Authority(keys: keys, role: roleKeys)
    }
}
