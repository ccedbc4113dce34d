// Starts the app: reads what is remembered, lets the boot machine decide, and writes its decision first.

struct Starter {
    private static let deviceIdBytes = 16

    private let setup: Setup

    init(_ setup: Setup) {
        self.setup = setup
    }

    /// What the main process runs, where that can be handed over.
    func follow() throws -> StartOutcome {
        guard let attempt = try setup.memory.attempt(), let slot = attempt.content.slot,
            let state = try setup.memory.load().content?.state
        else {
            return StartOutcome(.embedded)
        }
        let mayRun = try !setup.trust(state.trust).isRevoked(slot) && setup.slots.soundness(slot, first: false) == .sound
        return StartOutcome(mayRun ? attempt.content : .embedded)
    }

    func decide(_ launch: Launch) throws -> StartOutcome {
        try setup.memory.alone { try decideAlone(launch) }
    }

    private func decideAlone(_ launch: Launch) throws -> StartOutcome {
        let found = try setup.memory.load()
        if found.isCorrupt {
            return .fallback("state.json is not valid")
        }
        let isFirst = found.content == nil
        let open = found.content ?? setup.memory.open(newState(launch))
        let state = open.state
        let facts = StartFacts(
            binary: launch.binary, window: launch.window, ending: launch.ending,
            packages: InstalledPackages(slots: setup.slots, trust: setup.trust(state.trust)))
        let previous = try setup.memory.attempt()
        let decision = try BootMachine.decide(state.boot, previous: previous, facts: facts)
        // Reports come first: one too many is counted once, one too few never.
        setup.tryToReport(decision.events.map { setup.report($0, in: state, stack: launch.stack) })
        do {
            if isFirst || decision.state.isChanged(from: state.boot) {
                try open.change { Self.apply(decision, to: &$0) }
            }
            try setup.memory.save(decision.attempt)
        } catch {
            return StartOutcome(decision.unwritten)
        }
        return StartOutcome(decision, after: previous)
    }

    private static func apply(_ decision: Decision, to state: inout State) {
        rememberFailure(&state, decision.events)
        state.boot = decision.state
        if decision.newBinary {
            forgetOldBinary(&state)
        }
    }

    private func newState(_ launch: Launch) -> State {
        State.ofNewPhone(launch.binary, deviceId: Hex.encode(setup.ports.random(Self.deviceIdBytes)))
    }

    /// A package that gave way or could not be used always changes the state.
    private static func rememberFailure(_ state: inout State, _ events: [BootEvent]) {
        for event in events where event.kind == .rolledBack || event.kind == .failed {
            if let slot = event.content.slot.flatMap({ state.slot($0) }), let reason = event.reason {
                state.failed = FailedUpdate(slot, reason: reason.rawValue)
            }
        }
    }

    private static func forgetOldBinary(_ state: inout State) {
        state.slots = []
        state.tokens = []
        state.failed = nil
        if let trust = state.trust {
            // Another configuration has another role, which this device may not have fetched yet.
            state.trust = TrustRecord(refreshedAt: 0, stored: trust.stored)
        }
    }
}

/// Answers the boot machine's questions about packages.
private struct InstalledPackages: PackageFacts {
    let slots: Slots
    let trust: UpdateTrust

    func isRevoked(_ slot: Sha256) -> Bool {
        trust.isRevoked(slot)
    }

    func soundness(_ slot: Sha256, first: Bool) throws -> Soundness {
        try slots.soundness(slot, first: first)
    }
}
