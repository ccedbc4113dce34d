// Which packages are installed, and which of them the app chooses for the next start.

struct Choices {
    private let setup: Setup
    private let open: OpenState

    init(_ setup: Setup, _ open: OpenState) {
        self.setup = setup
        self.open = open
    }

    /// The packages that can be handed over, in the order of their installation.
    func list() throws -> [SlotRecord] {
        try open.state.slots.filter(isWhole)
    }

    /// Makes the package of an update the next content. Returns its record; nil if there is none that may run.
    func choose(_ updateId: String) throws -> SlotRecord? {
        let trust = setup.trust(open.state.trust)
        for slot in open.state.slots where slot.updateId.isExactly(updateId) && !trust.isRevoked(slot.id) {
            if try isWhole(slot), !open.state.boot.quarantine.contains(slot.id) {
                try open.change { $0.boot.stage(slot.id) }
                return slot
            }
        }
        return nil
    }

    /// Hashes are computed by the start that tries the package.
    private func isWhole(_ slot: SlotRecord) throws -> Bool {
        try setup.slots.soundness(slot.id, first: false) == .sound
    }
}
