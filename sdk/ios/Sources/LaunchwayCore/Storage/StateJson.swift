// The JSON of the state files. Unknown members are ignored; a missing or wrong one makes the file corrupt.

enum StateJson {
    /// The highest number of an attempt, so far from the highest number of JSON that counting up never reaches it.
    private static let maxAttempts = JsonValue.maxInteger / 2
    /// The most that a counter of failures may hold.
    private static let maxFailures = 0xffff_ffff

    static func write(_ state: State) -> JsonMembers {
        let boot = state.boot
        return [
            "deviceId": .text(state.deviceId),
            "binary": .object([
                "code": .text(boot.binary.code),
                "name": .text(boot.binary.name),
                "installedAt": .integer(boot.binary.installedAt),
            ]),
            "current": .text(boot.current.description),
            "trial": .bool(boot.trial),
            "lastGood": .text(boot.lastGood.description),
            "next": boot.next.map { .text($0.hex) } ?? .null,
            "quarantine": .texts(boot.quarantine.map { $0.hex }),
            "hard": .integer(boot.hard),
            "soft": .integer(boot.soft),
            "earlyCrashes": .integer(boot.earlyCrashes),
            "judged": .integer(boot.judged),
            "slots": .array(state.slots.map(write)),
            "tokens": .array(state.tokens.map(write)),
            "trust": state.trust.map(write) ?? .null,
            "failed": state.failed.map(write) ?? .null,
        ]
    }

    static func write(_ attempt: Attempt) -> JsonMembers {
        [
            "number": .integer(attempt.number),
            "content": .text(attempt.content.description),
            "window": .bool(attempt.window),
            "foreground": .bool(attempt.foreground),
            "settled": .bool(attempt.settled),
            "crashed": .bool(attempt.crashed),
            "hung": .bool(attempt.hung),
        ]
    }

    static func read(_ fields: Fields) throws -> State {
        var state = State(boot: try readBoot(fields), deviceId: try fields.text("deviceId"))
        state.slots = try fields.array("slots").map { try readSlot(Fields($0, "slots")) }
        state.tokens = try fields.array("tokens").map { value in
            let token = try Fields(value, "tokens")
            return ReportToken(updateId: try token.text("updateId"), token: try token.text("token"))
        }
        if try !fields.value("trust").isNull {
            let trust = try fields.object("trust")
            state.trust = TrustRecord(refreshedAt: try trust.count("refreshedAt"), stored: try trust.text("stored"))
        }
        // Earlier versions of the client do not write it.
        if let failed = fields.members["failed"], !failed.isNull {
            state.failed = try readFailed(Fields(failed, "failed"))
        }
        return state
    }

    static func readAttempt(_ fields: Fields) throws -> Attempt {
        let number = try count(fields, "number", max: maxAttempts)
        var attempt = Attempt(number: number, content: try content(fields, "content"), window: try fields.bool("window"))
        attempt.foreground = try fields.bool("foreground")
        attempt.settled = try fields.bool("settled")
        attempt.crashed = try fields.bool("crashed")
        attempt.hung = try fields.bool("hung")
        return attempt
    }

    private static func readBoot(_ fields: Fields) throws -> BootState {
        let binary = try fields.object("binary")
        var boot = BootState(
            binary: Binary(
                code: try binary.text("code"), name: try binary.text("name"), installedAt: try binary.count("installedAt")))
        boot.current = try content(fields, "current")
        boot.trial = try fields.bool("trial")
        boot.lastGood = try content(fields, "lastGood")
        boot.next = try fields.value("next").isNull ? nil : digest(fields, "next")
        boot.quarantine = try fields.texts("quarantine").map { try digest($0, "quarantine") }
        boot.hard = try count(fields, "hard", max: maxFailures)
        boot.soft = try count(fields, "soft", max: maxFailures)
        boot.earlyCrashes = try count(fields, "earlyCrashes", max: maxFailures)
        boot.judged = try count(fields, "judged", max: maxAttempts)
        return boot
    }

    private static func readSlot(_ slot: Fields) throws -> SlotRecord {
        SlotRecord(
            id: try digest(slot, "id"),
            updateId: try slot.text("updateId"),
            version: try slot.text("version"),
            buildNumber: try slot.text("buildNumber"),
            manifest: try digest(slot, "manifest"))
    }

    private static func readFailed(_ failed: Fields) throws -> FailedUpdate {
        FailedUpdate(
            updateId: try failed.text("updateId"),
            version: try failed.text("version"),
            buildNumber: try failed.text("buildNumber"),
            sha256: try digest(failed, "sha256"),
            reason: try failed.text("reason"))
    }

    private static func content(_ fields: Fields, _ field: String) throws -> Content {
        guard let content = Content(try fields.text(field)) else {
            throw FormError.field(field)
        }
        return content
    }

    private static func digest(_ fields: Fields, _ field: String) throws -> Sha256 {
        try digest(fields.text(field), field)
    }

    private static func digest(_ text: String, _ field: String) throws -> Sha256 {
        guard let digest = Sha256(text) else {
            throw FormError.field(field)
        }
        return digest
    }

    private static func count(_ fields: Fields, _ field: String, max: Int) throws -> Int {
        let count = try fields.count(field)
        if count > max {
            throw FormError.field(field)
        }
        return count
    }

    private static func write(_ slot: SlotRecord) -> JsonValue {
        .object([
            "id": .text(slot.id.hex),
            "updateId": .text(slot.updateId),
            "version": .text(slot.version),
            "buildNumber": .text(slot.buildNumber),
            "manifest": .text(slot.manifest.hex),
        ])
    }

    private static func write(_ token: ReportToken) -> JsonValue {
        .object(["updateId": .text(token.updateId), "token": .text(token.token)])
    }

    private static func write(_ trust: TrustRecord) -> JsonValue {
        .object(["refreshedAt": .integer(trust.refreshedAt), "stored": .text(trust.stored)])
    }

    private static func write(_ failed: FailedUpdate) -> JsonValue {
        .object([
            "updateId": .text(failed.updateId),
            "version": .text(failed.version),
            "buildNumber": .text(failed.buildNumber),
            "sha256": .text(failed.sha256.hex),
            "reason": .text(failed.reason),
        ])
    }
}
