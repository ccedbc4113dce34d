// Everything that is remembered between starts, as `state.json` holds it.

struct State: Equatable {
    /// The most report tokens that are kept; the oldest leave first.
    private static let maxTokens = 16

    /// The boot machine's part.
    var boot: BootState
    /// The installation's id, made at random at the first start.
    let deviceId: String
    /// The installed packages, in the order of their installation.
    var slots: [SlotRecord] = []
    /// Oldest first.
    var tokens: [ReportToken] = []
    /// Nil until metadata was fetched.
    var trust: TrustRecord?
    /// The last update that was rolled back or could not be installed on this binary; nil if none is known.
    var failed: FailedUpdate?

    init(boot: BootState, deviceId: String) {
        self.boot = boot
        self.deviceId = deviceId
    }

    /// The state of a phone on which the app has never run.
    static func ofNewPhone(_ binary: Binary, deviceId: String) -> State {
        State(boot: BootState(binary: binary), deviceId: deviceId)
    }

    /// The record of an installed package; nil if there is none.
    func slot(_ id: Sha256?) -> SlotRecord? {
        slots.first { $0.id == id }
    }

    /// Records an installed package in place of an earlier record of it.
    mutating func record(_ record: SlotRecord) {
        slots.removeAll { $0.id == record.id }
        slots.append(record)
    }

    /// Keeps the newest token of an update.
    mutating func keepToken(_ token: ReportToken) {
        tokens.removeAll { $0.updateId.isExactly(token.updateId) }
        if tokens.count >= State.maxTokens {
            tokens.removeFirst()
        }
        tokens.append(token)
    }

    /// How content is named towards the server: an update's id, or `embedded:<build>`.
    func updateId(_ content: Content) -> String {
        slot(content.slot)?.updateId ?? "embedded:\(boot.binary.code)"
    }
}
