// The life of an app, step by step, as a trace of `sdk/vectors/boot-traces.json` tells it.

@testable import LaunchwayCore

struct TracedApp {
    /// A trace has something that no trace has.
    struct UnknownStep: Error {
        let what: String
    }

    /// What a trace says of packages at a start.
    private struct TracedPackages: PackageFacts {
        let step: JsonValue

        func isRevoked(_ slot: Sha256) -> Bool {
            step["revoked"]?.asArray?.contains(.text(TracedApp.name(slot))) ?? false
        }

        func soundness(_ slot: Sha256, first: Bool) throws -> Soundness {
            switch step["unsound"]?[TracedApp.name(slot)]?.asText {
            case nil: return .sound
            case "damaged": return first ? .damaged : .sound
            case "incomplete": return .incomplete
            case "no_entry_file": return .noEntryFile
            case let other?: throw UnknownStep(what: other)
            }
        }
    }

    private var state = BootState(binary: TracedApp.binary("1"))
    private var attempt: Attempt?
    /// Whether what runs is the stored attempt.
    private var isRecorded = true

    /// Executes a step. Returns what the app answers; nil for steps without an answer.
    mutating func apply(_ step: JsonValue) throws -> JsonValue? {
        let name = step["do"]?.asText ?? ""
        switch name {
        case "start":
            return try start(step)
        case "stage":
            state.stage(TracedApp.slot(step["slot"]?.asText ?? ""))
        case "reset":
            state.reset()
        case "confirm":
            let event = attempt.flatMap { state.confirm($0, isRecorded: isRecorded) }
            return .object(["confirmed": .bool(event != nil)])
        default:
            try mark(name)
        }
        return nil
    }

    private mutating func mark(_ name: String) throws {
        guard isRecorded else {
            return
        }
        switch name {
        case "foreground":
            attempt?.enterForeground()
        case "background":
            attempt?.leaveForeground()
        case "crash":
            attempt?.crashed = true
        case "hang":
            attempt?.hung = true
        case "settle":
            attempt?.settled = true
        default:
            throw UnknownStep(what: name)
        }
    }

    private mutating func start(_ step: JsonValue) throws -> JsonValue {
        let code = step["ending"]?.asText ?? "unexplained"
        guard let ending = Ending(rawValue: code) else {
            throw UnknownStep(what: code)
        }
        let binary = TracedApp.binary(step["binary"]?.asText ?? "1")
        let window = step["window"]?.asBool ?? true
        let facts = StartFacts(binary: binary, window: window, ending: ending, packages: TracedPackages(step: step))
        let decision = try BootMachine.decide(state, previous: attempt, facts: facts)
        let fails = step["fails"]?.asText
        isRecorded = fails == nil
        if fails != "state" {
            state = decision.state
        }
        if isRecorded {
            attempt = decision.attempt
        }
        return answer(decision)
    }

    private func answer(_ decision: Decision) -> JsonValue {
        let events = decision.events.map { event -> JsonValue in
            var members: JsonMembers = ["type": .text(event.kind.rawValue), "content": TracedApp.name(event.content)]
            if let reason = event.reason {
                members["reason"] = .text(reason.rawValue)
            }
            return .object(members)
        }
        return .object([
            "run": TracedApp.name(isRecorded ? decision.attempt.content : decision.unwritten),
            "unwritten": TracedApp.name(decision.unwritten),
            "events": .array(events),
            "state": TracedApp.answer(state),
        ])
    }

    private static func answer(_ state: BootState) -> JsonValue {
        .object([
            "current": name(state.current),
            "trial": .bool(state.trial),
            "lastGood": name(state.lastGood),
            "next": state.next.map { .text(name($0)) } ?? .null,
            "quarantine": .texts(state.quarantine.map { name($0) }),
            "hard": .integer(state.hard),
            "soft": .integer(state.soft),
            "earlyCrashes": .integer(state.earlyCrashes),
        ])
    }

    private static func binary(_ code: String) -> Binary {
        Binary(code: code, name: "", installedAt: 0)
    }

    /// A digest whose bytes are all the letter of the slot.
    private static func slot(_ name: String) -> Sha256 {
        let letter = name.utf8.first ?? 0
        return Sha256(bytes: [UInt8](repeating: letter, count: 32)) ?? Sha256.of([])
    }

    private static func name(_ slot: Sha256) -> String {
        String(decoding: (Hex.decode(slot.hex) ?? []).prefix(1), as: UTF8.self)
    }

    private static func name(_ content: Content) -> JsonValue {
        .text(content.slot.map { name($0) } ?? content.description)
    }
}
