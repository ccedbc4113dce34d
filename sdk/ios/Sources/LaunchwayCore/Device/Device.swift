// The client of one app in one process, as an app calls it: starts, what happens during a run, rounds with the server, and
// questions about what is installed. It blocks and starts no threads. Every thread may call it: rounds with the server take
// turns, and nothing else waits for a round.

import Foundation

final class Device {
    private let memory: Memory
    /// Held by the main process. Others follow it.
    private let lock: Lock?
    /// Held during a round.
    private let rounds = NSLock()
    /// Guarded by the memory.
    private var currentSetup: Setup
    /// Whether `boot.json` names what runs. A process that did not start the app continues what is recorded. Guarded by its
    /// lock, which nobody holds for long: a crash handler asks, too.
    private var isRecorded = true
    private let recording = NSLock()

    /// Takes the lock if no other process of the app has it. Throws `StorageError`: then the embedded app runs.
    init(_ ports: Ports, _ settings: Settings, trust: @escaping UpdateTrust.Opener) throws {
        memory = Memory(ports.storage)
        currentSetup = Setup(ports, settings, trust, memory, ReportQueue(ports.storage))
        lock = try ports.storage.lock()
    }

    private var setup: Setup {
        memory.alone { currentSetup }
    }

    /// Uses other settings from now on. A round that runs keeps those that it began with.
    func configure(_ settings: Settings, trust: @escaping UpdateTrust.Opener) {
        memory.alone {
            currentSetup = Setup(currentSetup.ports, settings, trust, memory, currentSetup.reports)
        }
    }

    /// Lets another process decide.
    func close() {
        lock?.release()
    }

    /// Whether this is the process that decides.
    var isMain: Bool {
        lock != nil
    }

    /// Decides what the app runs, before any of its code does. It never fails: storage that cannot be read, or a state that
    /// cannot be understood, starts the embedded app and changes nothing.
    func start(_ launch: Launch) -> StartOutcome {
        let started: StartOutcome
        do {
            let starter = Starter(setup)
            started = isMain ? try starter.decide(launch) : try starter.follow()
        } catch {
            started = .fallback("cannot read the storage: \(errorMessage(error))")
        }
        recording.lock()
        isRecorded = started.isRecorded
        recording.unlock()
        return started
    }

    /// Whether what happens is noted.
    private var isNoted: Bool {
        recording.lock()
        defer { recording.unlock() }
        return isMain && isRecorded
    }

    /// Confirms what runs. Returns whether it was a trial. If the storage fails, the trial continues. A start that could not be
    /// recorded confirms nothing.
    func confirm() throws -> Bool {
        try memory.alone {
            guard isMain, let open = try memory.load().content, let attempt = try memory.attempt() else {
                return false
            }
            var boot = open.state.boot
            guard let event = boot.confirm(attempt, isRecorded: isNoted) else {
                return false
            }
            setup.tryToReport([setup.report(event, in: open.state)])
            try open.change { $0.boot = boot }
            return true
        }
    }

    /// Notes what happens during the run, at once. What happens during a start that could not be recorded is not noted.
    func mark(_ mark: Mark) throws {
        guard isNoted else {
            return
        }
        try memory.changeAttempt { attempt in
            switch mark {
            case .foreground: attempt.enterForeground()
            case .background: attempt.leaveForeground()
            case .hang: attempt.hung = true
            case .settled: attempt.settled = true
            }
        }
    }

    /// Notes that an uncaught error ends the app; `stack` is nil where it is not known.
    func markCrash(stack: String?) throws {
        guard isNoted, let attempt = try memory.changeAttempt({ $0.crashed = true }),
            let state = try memory.load().content?.state
        else {
            return
        }
        let updateId = state.updateId(attempt.content)
        try setup.reports.add([setup.report(BootEvent.Kind.crash.rawValue, updateId, stack: stack)])
    }

    /// Goes back to the embedded app from the next start on.
    func reset() throws {
        try memory.alone {
            if isMain, let open = try memory.load().content {
                try open.change { $0.boot.reset() }
            }
        }
    }

    /// What is installed and what runs. Nil: the app has never started, or its state is corrupt.
    func status() throws -> Status? {
        guard let state = try memory.load().content?.state else {
            return nil
        }
        return Status(state: state, attempt: try memory.attempt(), reports: try setup.reports.waiting().count)
    }

    /// The installed packages, in the order of their installation.
    func list() throws -> [SlotRecord] {
        guard let open = try memory.load().content else {
            return []
        }
        return try Choices(setup, open).list()
    }

    /// The last update that was rolled back or could not be installed on this binary; nil if none is known.
    func failed() throws -> FailedUpdate? {
        try memory.load().content?.state.failed
    }
}

// Rounds with the server. They throw `SyncError`.
extension Device {
    /// Asks the server, verifies what it offers, and installs nothing. An app that only checks learns of revocations, too.
    func check() throws -> CheckAnswer {
        try round { setup in
            let open = try load()
            memory.hold(open)
            return try OfferFinder(setup, open, running: memory.running()).find().answer
        }
    }

    /// Asks the server, installs what it offers for the next start, and reports what happened. After an error the next round
    /// continues where this one stopped.
    func sync(_ listener: RoundListener = RoundListener()) throws -> SyncOutcome {
        try install(.next, listener)
    }

    /// Does the same as `sync`, but leaves the choice of what the next start tries to `next`.
    func download(_ listener: RoundListener = RoundListener()) throws -> SyncOutcome {
        try install(.installed, listener)
    }

    /// Makes an installed update what the next start tries. Returns the record of its package; nil if no package of this
    /// update is whole, or if it is revoked or in quarantine.
    func next(_ updateId: String) throws -> SlotRecord? {
        try wrapped { try memory.alone { try Choices(setup, load()).choose(updateId) } }
    }

    /// Sends the reports that wait. Returns how many the server took.
    @discardableResult
    func sendReports() throws -> Int {
        try round { try sendReports($0) }
    }

    private func install(_ aim: Round.Aim, _ listener: RoundListener) throws -> SyncOutcome {
        try round { setup in
            let open = try load()
            memory.hold(open)
            let running = try memory.running()
            let outcome = Result { try Round(setup, open, running: running, aim: aim).run(listener) }
            // Reports and room on the disk do not depend on how the update went.
            let sent = Result { try sendReports(setup) }
            let cleaned = Result { try Cleaning(setup).cleanUp(load(), running: running) }
            let ended = try outcome.get()
            _ = try sent.get()
            try cleaned.get()
            return ended
        }
    }

    /// One round at a time, with the settings that it begins with.
    private func round<Value>(_ body: (Setup) throws -> Value) throws -> Value {
        rounds.lock()
        defer {
            memory.release()
            rounds.unlock()
        }
        return try wrapped { try body(setup) }
    }

    private func sendReports(_ setup: Setup) throws -> Int {
        let url = "\(setup.settings.serverUrl)/update/report/\(PercentEncoding.encode(setup.settings.bundleId))"
        return try ReportSender.send(setup.reports, over: setup.ports.network, to: url, load().state.tokens)
    }

    private func wrapped<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw SyncError.of(error)
        }
    }

    private func load() throws -> OpenState {
        guard isMain else {
            throw SyncError.notMain
        }
        let found = try memory.load()
        if found.isCorrupt {
            try memory.setStateAside()
            throw SyncError.corrupt
        }
        guard let open = found.content else {
            throw SyncError.notStarted
        }
        return open
    }
}
