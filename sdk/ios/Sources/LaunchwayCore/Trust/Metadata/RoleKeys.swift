// Which keys may sign for a role, and how many of them must.

struct RoleKeys {
    let keyIds: Set<ExactText>
    let threshold: Int

    init(_ fields: Fields) throws {
        let ids = try fields.texts("keyids")
        keyIds = Set(ids.map(ExactText.init))
        guard keyIds.count == ids.count else {
            throw FormError.field("keyids")
        }
        threshold = try fields.positive("threshold")
    }
}
