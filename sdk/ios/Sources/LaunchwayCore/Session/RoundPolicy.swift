// When rounds with the server begin. It is called on the thread of tasks.

final class RoundPolicy {
    /// The shortest time between rounds that begin because the app returns.
    private static let resumePauseMs = 60_000
    /// For how long `sync()` takes the result of a round that began by itself.
    private static let freshMs = 60_000
    /// How long `sync()` waits for a first frame, which may never come.
    private static let frameTimeoutMs = 10_000

    private let rounds: Rounds
    private let ports: SessionPorts
    private let isMain: Bool
    /// Whether a first frame is expected, which a round must not delay.
    private var awaitsFrame: Bool
    /// Whether the app left the foreground and has not returned.
    private var hasLeft = false
    /// When the last round began; nil: none did.
    private var lastBegan: Int?
    /// The result of a round that no call waited for, and since when it is there.
    private var unclaimed: (result: RoundResult, since: Int)?

    init(_ rounds: Rounds, _ ports: SessionPorts, isMain: Bool, awaitsFrame: Bool) {
        self.rounds = rounds
        self.ports = ports
        self.isMain = isMain
        self.awaitsFrame = awaitsFrame
    }

    /// A call of the app.
    func join(_ kind: Rounds.Kind, _ callback: @escaping Rounds.Callback, _ options: Options) throws {
        if options.serverUrl == nil {
            throw LaunchwayError(.notConfigured, "serverUrl is not set; set it in launchway.toml or call configure()")
        }
        if !isMain {
            throw LaunchwayError.notMain
        }
        if kind != .sync {
            rounds.join(kind, callback, mayBegin: true)
            return
        }
        let fresh = unclaimed
        unclaimed = nil
        if let fresh = fresh, ports.timer.now - fresh.since < Self.freshMs {
            ports.callbacks.run { callback(.success(fresh.result)) }
            return
        }
        let waits = awaitsFrame && options.checkOn != .manual
        if waits {
            endWaitInTime()
        }
        begin(callback, now: !waits)
    }

    private func endWaitInTime() {
        let tasks = ports.tasks
        _ = ports.timer.after(Self.frameTimeoutMs) {
            tasks.run {
                self.awaitsFrame = false
                self.rounds.beginWaiting()
            }
        }
    }

    private func begin(_ callback: Rounds.Callback?, now: Bool) {
        lastBegan = ports.timer.now
        rounds.join(.sync, callback, mayBegin: now)
    }

    /// The app has drawn its first frame.
    func draw(_ options: Options) {
        awaitsFrame = false
        rounds.beginWaiting()
        if lastBegan == nil && beginsByItself(options) {
            begin(nil, now: true)
        }
    }

    func enterForeground(_ options: Options) {
        let mayBegin = lastBegan.map { ports.timer.now - $0 >= Self.resumePauseMs } ?? true
        let isReturn = hasLeft && options.checkOn == .resume
        hasLeft = false
        if isReturn && mayBegin && !awaitsFrame && beginsByItself(options) {
            begin(nil, now: true)
        }
    }

    func leaveForeground() {
        hasLeft = true
    }

    private func beginsByItself(_ options: Options) -> Bool {
        isMain && options.serverUrl != nil && options.checkOn != .manual
    }

    /// Options have changed: results of before do not count.
    func configure() {
        unclaimed = nil
        rounds.separate()
    }

    /// A round has ended.
    func remember(_ kind: Rounds.Kind, _ result: RoundResult, isClaimed: Bool) {
        if kind == .sync && !isClaimed {
            unclaimed = (result, ports.timer.now)
        }
    }
}
