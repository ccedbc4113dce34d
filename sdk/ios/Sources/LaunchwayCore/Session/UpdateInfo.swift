// An update, as the app sees it.

public struct UpdateInfo {
    public let id: String
    public let version: String
    public let buildNumber: String
    /// The SHA-256 of its package, in hexadecimal.
    public let sha256: String
    /// The bytes of its package; nil where that is not known.
    public let size: Int?

    init(id: String, version: String, buildNumber: String, sha256: String, size: Int? = nil) {
        self.id = id
        self.version = version
        self.buildNumber = buildNumber
        self.sha256 = sha256
        self.size = size
    }

    init(_ offer: Offer) {
        self.init(
            id: offer.id, version: offer.version, buildNumber: offer.buildNumber, sha256: offer.sha256.hex, size: offer.size)
    }

    init(_ slot: SlotRecord) {
        self.init(id: slot.updateId, version: slot.version, buildNumber: slot.buildNumber, sha256: slot.id.hex)
    }

    init(_ failed: FailedUpdate) {
        self.init(
            id: failed.updateId, version: failed.version, buildNumber: failed.buildNumber, sha256: failed.sha256.hex)
    }

    var json: JsonValue {
        var members: TextMap<JsonValue> = [
            "id": .text(id),
            "version": .text(version),
            "buildNumber": .text(buildNumber),
            "sha256": .text(sha256),
        ]
        members["size"] = size.map { .integer($0) }
        return .object(members)
    }
}
