// What runs.

public struct CurrentContent {
    /// Whether it is the content of the store binary.
    public let isEmbedded: Bool
    /// The update's id, or `embedded:<build>`.
    public let updateId: String
    public let version: String
    public let buildNumber: String
    /// Whether it still has to prove itself.
    public let isTrial: Bool

    var json: JsonValue {
        .object([
            "embedded": .bool(isEmbedded),
            "updateId": .text(updateId),
            "version": .text(version),
            "buildNumber": .text(buildNumber),
            "trial": .bool(isTrial),
        ])
    }
}

/// An update that failed on this binary.
public struct FailedInfo {
    public let update: UpdateInfo
    /// Why it failed.
    public let reason: String

    /// The JSON of a failure, or of none.
    static func json(_ failed: FailedInfo?) -> JsonValue {
        .object(["update": failed?.update.json ?? .null, "reason": failed.map { .text($0.reason) } ?? .null])
    }
}
