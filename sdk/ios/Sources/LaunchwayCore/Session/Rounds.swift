// Rounds with the server, one at a time. A call joins the round of its kind that waits or runs. Rounds run on a thread of their
// own; everything else here is called on the thread of tasks.

final class Rounds {
    typealias Callback = (Result<RoundResult, LaunchwayError>) -> Void
    /// Learns of each round that ended well, after the calls that waited for it. `isClaimed` says that a call waited for it.
    typealias Follower = (_ kind: Kind, _ result: RoundResult, _ isClaimed: Bool) -> Void

    enum Kind: CaseIterable {
        case check
        case download
        case sync
    }

    /// A round and the calls that wait for it.
    private final class Joined {
        let kind: Kind
        var callbacks: [Callback] = []
        var hasBegun = false

        init(_ kind: Kind) {
            self.kind = kind
        }
    }

    private let device: Device
    private let ports: SessionPorts
    private let events: Events
    private let follower: Follower
    private var open: [Kind: Joined] = [:]
    /// The package that the last `nextSet` named; nil: none did.
    private var announcedNext: String?

    init(_ device: Device, _ ports: SessionPorts, _ events: Events, _ follower: @escaping Follower) {
        self.device = device
        self.ports = ports
        self.events = events
        self.follower = follower
    }

    /// Joins a round. One that may not begin yet waits for `beginWaiting`.
    func join(_ kind: Kind, _ callback: Callback?, mayBegin: Bool) {
        let round = open[kind] ?? Joined(kind)
        open[kind] = round
        if let callback = callback {
            round.callbacks.append(callback)
        }
        if mayBegin {
            begin(round)
        }
    }

    func beginWaiting() {
        Kind.allCases.compactMap { open[$0] }.forEach(begin)
    }

    /// Joins no call to a round that has begun: it asks with settings of the past.
    func separate() {
        open = open.filter { !$0.value.hasBegun }
    }

    /// Tells the app what the next start tries, unless it knows.
    func announceNext(_ update: UpdateInfo) {
        if update.sha256 != announcedNext {
            announcedNext = update.sha256
            events.emit(LaunchwayEvent(.nextSet, update))
        }
    }

    /// Nothing is chosen for the next start any more.
    func forgetNext() {
        announcedNext = nil
    }

    private func begin(_ round: Joined) {
        if round.hasBegun {
            return
        }
        round.hasBegun = true
        ports.rounds.run { self.execute(round) }
    }

    private func execute(_ round: Joined) {
        let progress = RoundEvents(ports.timer, events)
        let result: Result<RoundResult, LaunchwayError>
        do {
            result = .success(try execute(round.kind, progress.listener))
        } catch {
            let failure = LaunchwayError.of(error)
            progress.fail(failure)
            result = .failure(failure)
        }
        ports.tasks.run { self.finish(round, result) }
    }

    private func execute(_ kind: Kind, _ listener: RoundListener) throws -> RoundResult {
        switch kind {
        case .check: return try check()
        case .download: return RoundResult(try device.download(listener))
        case .sync: return RoundResult(try device.sync(listener))
        }
    }

    private func check() throws -> RoundResult {
        switch try device.check().content {
        case .nothing:
            return RoundResult(.none)
        case .storeUpdateRequired(let reason):
            return RoundResult(.storeUpdateRequired, reason: reason)
        case .update(let offer):
            let update = UpdateInfo(offer)
            if try device.status()?.state.boot.quarantine.contains(offer.sha256) ?? false {
                return RoundResult(.quarantined, update)
            }
            events.emit(LaunchwayEvent(.updateAvailable, update))
            return RoundResult(.available, update)
        }
    }

    private func finish(_ round: Joined, _ result: Result<RoundResult, LaunchwayError>) {
        if open[round.kind] === round {
            open[round.kind] = nil
        }
        if case .success(let result) = result {
            announce(result)
        }
        for callback in round.callbacks {
            ports.callbacks.run { callback(result) }
        }
        if case .success(let success) = result {
            follower(round.kind, success, !round.callbacks.isEmpty)
        }
    }

    private func announce(_ result: RoundResult) {
        if result.status == .none {
            events.emit(LaunchwayEvent(.noUpdateAvailable))
        } else if result.status == .storeUpdateRequired {
            events.emit(LaunchwayEvent(.storeUpdateRequired, reason: result.reason))
        } else if result.status == .staged, let update = result.update {
            announceNext(update)
        }
    }
}
