// Something that the app may want to know.

public struct LaunchwayEvent {
    /// The raw value is the name in every language.
    public enum Kind: String {
        case updateAvailable
        case noUpdateAvailable
        case storeUpdateRequired
        case downloadProgress
        case downloadComplete
        case downloadFailed
        /// The next start tries the update.
        case nextSet
        /// Other content runs than before.
        case updateApplied
        /// What runs has proved itself.
        case appReady
        /// An installed update could not be used.
        case updateFailed
        case rolledBack

        /// Whether it happens before the app can listen, and waits for the first listener.
        var waits: Bool {
            self == .updateApplied || self == .updateFailed || self == .rolledBack
        }
    }

    public let kind: Kind
    /// The update; nil for the embedded content, and where the event is about none.
    public let update: UpdateInfo?
    /// Why; nil where nothing needs an explanation. For a failed download it is the error's message.
    public let reason: String?
    /// The code of a failed download; nil otherwise.
    public let code: ErrorCode?
    /// The bytes of a download that have arrived.
    public let received: Int

    init(_ kind: Kind, _ update: UpdateInfo? = nil, reason: String? = nil, code: ErrorCode? = nil, received: Int = 0) {
        self.kind = kind
        self.update = update
        self.reason = reason
        self.code = code
        self.received = received
    }

    var payload: JsonValue {
        var members = TextMap<JsonValue>()
        switch kind {
        case .noUpdateAvailable:
            break
        case .storeUpdateRequired:
            members["reason"] = .text(reason ?? "")
        case .downloadProgress:
            members["id"] = .text(update?.id ?? "")
            members["received"] = .integer(received)
            members["total"] = .integer(update?.size ?? 0)
        case .downloadFailed:
            members["update"] = update?.json ?? .null
            members["code"] = .text((code ?? .unknown).rawValue)
            members["message"] = .text(reason ?? "")
        default:
            members["update"] = update?.json ?? .null
            members["reason"] = reason.map { .text($0) }
        }
        return .object(members)
    }
}
