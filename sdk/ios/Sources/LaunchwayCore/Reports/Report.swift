// Something that happened on a device, for the server.

struct Report {
    /// The most characters of a reason.
    private static let maxReason = 200
    /// The most bytes of a crash's stack.
    private static let maxStack = 8 << 10

    /// `downloaded`, `installed`, `confirmed`, `rolled_back`, `failed` or `crash`.
    let type: String
    /// The update, or `embedded:<build>`.
    let updateId: String
    /// When it happened, in milliseconds since 1970.
    let at: Int
    /// Why; nil where nothing needs an explanation.
    let reason: String?
    /// Where it crashed; nil where that is not known.
    let stack: String?

    /// Long reasons and stacks are cut.
    init(_ type: String, _ updateId: String, at: Int, reason: String? = nil, stack: String? = nil) {
        self.type = type
        self.updateId = updateId
        self.at = at
        self.reason = reason.map { Self.cut($0, characters: Self.maxReason) }
        self.stack = stack.map { Self.cut($0, bytes: Self.maxStack) }
    }

    /// The text without NULs and with at most so many code points.
    private static func cut(_ text: String, characters: Int) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.unicodeScalars.lazy.filter { $0.value != 0 }.prefix(characters))
        return String(scalars)
    }

    /// The text without NULs and with at most so many bytes, cut between code points.
    private static func cut(_ text: String, bytes: Int) -> String {
        var left = bytes
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar.value != 0 {
            left -= UTF8.width(scalar)
            if left < 0 {
                break
            }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    var json: JsonValue {
        var members: TextMap<JsonValue> = [
            "type": .text(type),
            "updateId": .text(updateId),
            "at": .text(IsoTime.write(at)),
        ]
        if let reason = reason {
            members["reason"] = .text(reason)
        }
        if let stack = stack {
            members["stack"] = .text(stack)
        }
        return .object(members)
    }

    init(json: JsonValue) throws {
        let fields = try Fields(json, "report")
        guard let at = IsoTime.read(try fields.text("at")) else {
            throw FormError.field("at")
        }
        self.init(
            try fields.text("type"),
            try fields.text("updateId"),
            at: at,
            reason: try fields.optionalText("reason"),
            stack: try fields.optionalText("stack"))
    }

    /// Whether the server counts both as one.
    func isSame(as other: Report) -> Bool {
        type.isExactly(other.type) && updateId.isExactly(other.updateId)
    }
}
