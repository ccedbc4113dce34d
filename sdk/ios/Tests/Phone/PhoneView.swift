// What the commands print about a phone.

@testable import LaunchwayCore

struct PhoneView {
    /// What people read, and the member that holds it.
    private static let rows = [
        ("Outcome", "outcome"), ("Offer", "offer"), ("Runs", "runs"), ("Files", "folder"), ("On trial", "trial"),
        ("Last good", "lastGood"), ("Next", "next"), ("Quarantine", "quarantine"), ("Reports", "reports"),
        ("Device", "deviceId"),
    ]
    private static let width = 12

    private var members: TextMap<JsonValue> = [
        "outcome": .text(""), "runs": .text(""), "folder": .null, "trial": .bool(false), "lastGood": .text(""),
        "next": .null, "quarantine": .array([]), "reports": .integer(0), "deviceId": .text(""),
    ]

    private mutating func outcome(_ words: String) {
        members["outcome"] = .text(words)
    }

    mutating func add(_ started: StartOutcome) {
        outcome(started.problem.map { "started the embedded app: \($0)" } ?? "started")
    }

    mutating func add(_ answer: CheckAnswer) {
        switch answer.content {
        case .update(let offer):
            outcome("an update is available")
            members["offer"] = .object([
                "id": .text(offer.id), "version": .text(offer.version), "buildNumber": .text(offer.buildNumber),
                "size": .integer(offer.size), "sha256": .text(offer.sha256.hex),
            ])
        case .storeUpdateRequired(let reason):
            outcome("a build from the store is required: \(reason)")
        case .nothing(let message):
            outcome(message)
        }
    }

    mutating func add(_ synced: SyncOutcome) {
        switch synced {
        case .nothing: outcome("no update")
        case .storeUpdateRequired(let reason): outcome("a build from the store is required: \(reason)")
        case .staged(let offer): outcome("installed \(offer.id)")
        case .downloaded(let offer): outcome("downloaded \(offer.id)")
        case .sameBytes(let offer): outcome("the files of \(offer.id) are already running")
        case .quarantined(let offer): outcome("\(offer.id) failed before and is in quarantine")
        case .waitsForWifi(let offer): outcome("\(offer.id) waits for an unmetered connection")
        }
    }

    mutating func add(confirmed: Bool) {
        outcome(confirmed ? "confirmed" : "nothing to confirm")
    }

    mutating func add(reported count: Int) {
        outcome(count == 1 ? "sent 1 report" : "sent \(count) reports")
    }

    /// Adds what is installed. `client` is the directory of the client.
    mutating func add(_ status: Status, client: String) {
        let state = status.state
        let running = status.attempt?.content ?? state.boot.current
        members["runs"] = .text(state.updateId(running))
        members["folder"] = running.slot.map { .text("\(client)/\(Slots.content($0))") } ?? .null
        members["trial"] = .bool(state.boot.trial)
        members["lastGood"] = .text(state.updateId(state.boot.lastGood))
        members["next"] = state.boot.next.map { .text(state.updateId(.slot($0))) } ?? .null
        members["quarantine"] = .array(state.boot.quarantine.map { .text($0.hex) })
        members["reports"] = .integer(status.reports)
        members["deviceId"] = .text(state.deviceId)
    }

    var json: String {
        JsonWriter.plain(.object(members)) + "\n"
    }

    /// The lines for people.
    var prose: String {
        var text = ""
        for (title, name) in Self.rows {
            for (number, line) in Self.lines(of: members[name]).enumerated() {
                let start = number == 0 ? title : ""
                text += start + String(repeating: " ", count: Self.width - start.count) + line + "\n"
            }
        }
        return text
    }

    private static func lines(of value: JsonValue?) -> [String] {
        switch value {
        case nil, .null?, .bool(false)?: return []
        case .bool(true)?: return ["yes"]
        case .text(let text)?: return text.isEmpty ? [] : [text]
        case .integer(let number)?: return ["\(number)"]
        case .array(let items)?: return items.compactMap(\.asText)
        case .object(let offer)?:
            let texts = ["version", "buildNumber", "id"].map { offer[$0]?.asText ?? "" }
            return ["\(texts[0]) (\(texts[1])), \(texts[2])"]
        }
    }
}
