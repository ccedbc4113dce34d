// Decides what a start runs, from what is remembered, what became of the previous attempt, and what is known now. It writes
// nothing. The numbered comments are the rules of `docs/reference/sdk.md#at-each-start`.

struct BootMachine {
    /// So many hard failures of a trial are one too many.
    private static let maxHard = 1
    /// So many unexplained deaths of a trial are one too many.
    private static let maxSoft = 2
    /// So many early crashes in a row of confirmed content are one too many.
    private static let maxEarlyCrashes = 3

    private let facts: StartFacts
    private var events: [BootEvent] = []
    private var state: BootState
    /// Why the trial failed just now; nil if it did not.
    private var failure: BootReason?

    private init(state: BootState, facts: StartFacts) {
        self.state = state
        self.facts = facts
    }

    /// The decision at a start. `previous` is nil if no attempt is known. Throws if nobody knows whether a package can be
    /// handed over.
    static func decide(_ state: BootState, previous: Attempt?, facts: StartFacts) throws -> Decision {
        var machine = BootMachine(state: state, facts: facts)
        return try machine.decide(previous: previous)
    }

    private mutating func decide(previous: Attempt?) throws -> Decision {
        let lastNumber = max(previous?.number ?? 0, state.judged)
        let newBinary = state.binary != facts.binary
        if newBinary {
            // 1. A new store binary makes slots and quarantine void, and nothing of the old one is judged.
            state = BootState(binary: facts.binary)
            state.judged = lastNumber
        } else if let previous = previous {
            count(previous)
        }
        if facts.window {
            // 2. Only a start with a window judges and promotes.
            try judge()
        }
        try replaceUnusable()
        if facts.window {
            try promote()
        }
        let attempt = Attempt(number: lastNumber + 1, content: state.current, window: facts.window)
        let unwritten = state.trial ? try usableOrEmbedded(state.lastGood) : state.current
        return Decision(state: state, attempt: attempt, unwritten: unwritten, events: events, newBinary: newBinary)
    }

    /// 3. Counts how the previous attempt ended, once.
    private mutating func count(_ previous: Attempt) {
        guard previous.number > state.judged else {
            return
        }
        state.judged = previous.number
        let crashed = previous.crashed || facts.ending.isCrash
        if crashed {
            report(.crash, previous.content, nil)
        }
        guard previous.content == state.current else {
            // It stood in for content that could not be recorded, and says nothing about it.
            return
        }
        if !state.trial {
            let early = crashed && !previous.settled
            state.earlyCrashes = early ? state.earlyCrashes + 1 : 0
        } else if crashed || previous.hung {
            state.hard += 1
            failure = crashed ? .crashed : .hung
        } else if facts.ending == .unexplained && previous.window && previous.foreground {
            state.soft += 1
        }
    }

    /// 4. Quarantines a trial that failed, and confirmed content in a crash loop.
    private mutating func judge() throws {
        if let slot = state.current.slot, let reason = verdict() {
            state.ban(slot)
            try fallBack(.rolledBack, reason)
        }
    }

    /// Why the current content has to go; nil if it may stay.
    private func verdict() -> BootReason? {
        if state.trial && state.hard >= BootMachine.maxHard {
            // A crash that a start without a window counted can no longer be distinguished from a hang.
            return failure ?? .crashed
        }
        if state.trial && state.soft >= BootMachine.maxSoft {
            return .diedTwice
        }
        if !state.trial && state.earlyCrashes >= BootMachine.maxEarlyCrashes {
            return .crashLoop
        }
        return nil
    }

    /// Replaces content that is revoked or cannot be handed over, at a start without a window too.
    private mutating func replaceUnusable() throws {
        guard let slot = state.current.slot, let obstacle = try obstacle(slot, first: false) else {
            return
        }
        try fallBack(obstacle == .revoked ? .rolledBack : .failed, obstacle)
    }

    /// Goes back to the last good content, else to the embedded app.
    private mutating func fallBack(_ kind: BootEvent.Kind, _ reason: BootReason) throws {
        report(kind, state.current, reason)
        state.run(try usableOrEmbedded(state.lastGood), asTrial: false)
        state.lastGood = .embedded
    }

    /// 5. Makes the package that waits the trial if it can be handed over.
    private mutating func promote() throws {
        let waiting = state.next
        state.next = nil
        guard let next = waiting, next != state.current.slot, !state.quarantine.contains(next) else {
            return
        }
        let content = Content.slot(next)
        if let obstacle = try obstacle(next, first: true) {
            report(.failed, content, obstacle)
            return
        }
        if !state.trial {
            state.lastGood = state.current
        }
        state.run(content, asTrial: true)
        report(.installed, content, nil)
    }

    private func usableOrEmbedded(_ content: Content) throws -> Content {
        guard let slot = content.slot, !state.quarantine.contains(slot) else {
            return .embedded
        }
        return try obstacle(slot, first: false) == nil ? content : .embedded
    }

    /// Why a package cannot be handed over; nil if it can.
    private func obstacle(_ slot: Sha256, first: Bool) throws -> BootReason? {
        facts.packages.isRevoked(slot) ? .revoked : try facts.packages.soundness(slot, first: first).obstacle
    }

    private mutating func report(_ kind: BootEvent.Kind, _ content: Content, _ reason: BootReason?) {
        events.append(BootEvent(kind: kind, content: content, reason: reason))
    }
}
