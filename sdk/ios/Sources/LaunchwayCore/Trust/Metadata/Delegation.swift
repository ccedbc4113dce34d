// One role that is delegated to: who signs for it, and for which paths.

struct Delegation {
    let name: String
    /// Whether the search for a path ends with this role.
    let terminating: Bool
    /// Patterns of the paths that it signs for. Empty if the delegation is by hash prefixes.
    let paths: [ExactText]
    let authority: Authority

    init(_ fields: Fields, keys: Keys) throws {
        name = try fields.text("name")
        authority = Authority(keys: keys, role: try RoleKeys(fields))
        terminating = try fields.bool("terminating")
        paths = fields.has("paths") ? try fields.texts("paths").map(ExactText.init) : []
    }
}
