// What the boot machine remembers between starts, and what changes it besides a start.

struct BootState: Equatable {
    /// The most packages in quarantine. The oldest leave first; a phone sees far fewer on one binary.
    static let maxQuarantine = 64

    /// The store binary that everything below belongs to.
    var binary: Binary
    /// What the app runs.
    var current = Content.embedded
    /// Whether `current` still has to prove itself.
    var trial = false
    /// What runs when `current` has to go.
    var lastGood = Content.embedded
    /// What the next start with a window tries; nil: nothing.
    var next: Sha256?
    /// What never runs again on this binary, oldest first.
    var quarantine: [Sha256] = []
    /// Crashes and hangs of the trial.
    var hard = 0
    /// Unexplained deaths of the trial.
    var soft = 0
    /// Crashes in a row of confirmed content within its first ten seconds.
    var earlyCrashes = 0
    /// The last attempt whose end was counted, so that none is counted twice.
    var judged = 0

    /// The state of a binary that has never run.
    init(binary: Binary) {
        self.binary = binary
    }

    /// Never runs `slot` again on this binary.
    mutating func ban(_ slot: Sha256) {
        quarantine.removeAll { $0 == slot }
        if quarantine.count >= BootState.maxQuarantine {
            quarantine.removeFirst()
        }
        quarantine.append(slot)
    }

    /// Makes an installed package the next trial. Returns whether it may be one: a package in quarantine may not.
    @discardableResult
    mutating func stage(_ slot: Sha256) -> Bool {
        let allowed = !quarantine.contains(slot)
        if allowed {
            next = slot
        }
        return allowed
    }

    /// Confirms the attempt's content, if it is a trial that ran with a window. Returns what to report, or nil. `isRecorded`:
    /// whether what runs is this attempt; otherwise other content may stand in for it.
    mutating func confirm(_ attempt: Attempt, isRecorded: Bool) -> BootEvent? {
        guard isRecorded, trial, attempt.content == current, attempt.window else {
            return nil
        }
        run(current, asTrial: false)
        return BootEvent(kind: .confirmed, content: current, reason: nil)
    }

    /// Goes back to the embedded app from the next start on. The quarantine stays.
    mutating func reset() {
        run(.embedded, asTrial: false)
        lastGood = .embedded
        next = nil
    }

    /// Whether a package may not be removed.
    func needs(_ slot: Sha256) -> Bool {
        slot == current.slot || slot == lastGood.slot || slot == next
    }

    /// Whether this state has to be written in place of `other`. That an attempt was looked at and counted nothing does not:
    /// looking again counts nothing again.
    func isChanged(from other: BootState) -> Bool {
        var same = other
        same.judged = judged
        return self != same
    }

    /// Runs `content` from now on, with fresh counters.
    mutating func run(_ content: Content, asTrial: Bool) {
        current = content
        trial = asTrial
        hard = 0
        soft = 0
        earlyCrashes = 0
    }
}
