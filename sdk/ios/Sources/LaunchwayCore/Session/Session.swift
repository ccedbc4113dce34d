// The client of an app while it runs: what the platform reports, what the app calls, and rounds with the server that begin by
// themselves. Every thread may call it. What takes time happens on the threads of `SessionPorts`, except that a start, leaving
// the foreground and a crash are on disk when the call returns.

import Foundation

public final class Session {
    let ports: SessionPorts
    private let events: Events
    private let parts: Result<SessionParts, LaunchwayError>
    /// Held to note the foreground, so that notes are in the order of what happened. It guards the next three.
    private let marks = NSRecursiveLock()
    private var foreground: Bool
    private var currentRun: Run?
    private var switcher: Switcher?
    /// What follows is used on the thread of tasks.
    private var options: Options
    private var isDrawn = false
    /// Whether a switch brought nothing new, so that the next one is left to the next launch.
    private var switchedInVain = false

    private init(
        _ parts: Result<SessionParts, LaunchwayError>, _ options: Options, _ ports: SessionPorts, _ events: Events, window: Bool
    ) {
        self.parts = parts
        self.options = options
        self.ports = ports
        self.events = events
        foreground = window
    }

    /// A session in which the embedded app runs, nothing is changed, and every call fails with `problem`.
    static func off(_ problem: LaunchwayError, _ ports: SessionPorts) -> Session {
        Session(.failure(problem), .defaults(), ports, Events(ports.callbacks), window: false)
    }

    /// Decides what the app runs, before any of its code does. It never fails: where the storage does, the embedded app runs.
    ///
    /// - Parameters:
    ///   - folder: where the storage of `devicePorts` is
    ///   - window: whether a window is shown
    ///   - ending: how the previous process ended
    ///   - stack: where the previous process crashed; nil where that is not known
    static func start(
        _ app: AppFacts, _ options: Options, _ devicePorts: Ports, folder: String, _ ports: SessionPorts, window: Bool,
        ending: Ending, stack: String? = nil
    ) -> Session {
        let device: Device
        do {
            device = try Device(devicePorts, app.settings(options), trust: app.trust(devicePorts, options))
        } catch {
            return off(LaunchwayError.of(error), ports)
        }
        let events = Events(ports.callbacks)
        let parts = SessionParts(app, devicePorts, folder: folder, device, ports, events, awaitsFrame: window)
        let session = Session(.success(parts), options, ports, events, window: window)
        parts.follower = { [weak session] in session?.follow($0, $1, isClaimed: $2) }
        let outcome = device.start(Launch(binary: app.binary, window: window, ending: ending, stack: stack))
        session.begin(Run(device, outcome, ports, events, options))
        return session
    }

    private func begin(_ run: Run) {
        marks.lock()
        currentRun = run
        marks.unlock()
        ports.tasks.run {
            run.begin(self.options, isInForeground: self.isInForeground, isDrawn: self.isDrawn)
        }
    }

    /// What the app calls.
    public var calls: Calls {
        Calls(self)
    }

    /// The folder with the content that runs; nil is the embedded app.
    public var currentFolder: URL? {
        guard let parts = try? parts.get(), let path = run?.outcome.folder else {
            return nil
        }
        return URL(fileURLWithPath: parts.folder, isDirectory: true).appendingPathComponent(path, isDirectory: true)
    }

    /// What can switch while the app runs; nil: nothing.
    public func setSwitcher(_ switcher: Switcher?) {
        marks.lock()
        self.switcher = switcher
        marks.unlock()
    }

    /// Passes events to the listener. Returns the number by which it is removed.
    public func addListener(_ listener: @escaping (LaunchwayEvent) -> Void) -> Int {
        events.add(listener)
    }

    public func removeListener(_ number: Int) {
        events.remove(number)
    }

    private var run: Run? {
        marks.lock()
        defer { marks.unlock() }
        return currentRun
    }

    private var isInForeground: Bool {
        marks.lock()
        defer { marks.unlock() }
        return foreground
    }
}

// What the platform reports.
extension Session {
    public func onForeground() {
        note(true)
    }

    /// The app left the foreground. That is on disk when this returns.
    public func onBackground() {
        note(false)
    }

    private func note(_ isInForeground: Bool) {
        marks.lock()
        let isNews = foreground != isInForeground
        foreground = isInForeground
        if isNews {
            currentRun?.tryToMark(isInForeground ? .foreground : .background)
        }
        marks.unlock()
        if isNews {
            ports.tasks.run { self.follow(isInForeground) }
        }
    }

    private func follow(_ isInForeground: Bool) {
        guard let parts = try? parts.get(), let run = run else {
            return
        }
        if isInForeground {
            run.enterForeground()
            parts.policy.enterForeground(options)
        } else {
            run.leaveForeground()
            parts.policy.leaveForeground()
            apply()
        }
    }

    /// The app has drawn its first frame.
    public func onFirstFrame() {
        ports.tasks.run {
            guard !self.isDrawn, let parts = try? self.parts.get() else {
                return
            }
            self.isDrawn = true
            self.run?.draw()
            parts.policy.draw(self.options)
        }
    }

    /// The framework shows other content: what happens from now on is not noted, and nothing is confirmed.
    public func onOtherContent() {
        run?.disown()
    }

    /// An uncaught error ends the app. That is on disk when this returns.
    public func onCrash(stack: String?) {
        if let parts = try? parts.get(), let run = run, run.isNoted {
            // The app ends, whether that can be noted or not.
            try? parts.device.markCrash(stack: stack)
        }
    }
}

// For the calls of the app, on the thread of tasks.
extension Session {
    /// What works. Fails where nothing does.
    func works() throws -> (parts: SessionParts, run: Run) {
        let parts = try parts.get()
        guard let run = run else {
            throw LaunchwayError(.notStarted, "the app has not started yet")
        }
        return (parts, run)
    }

    func configure(_ arguments: TextMap<JsonValue>) throws {
        let (parts, run) = try works()
        do {
            options = try options.with(arguments)
        } catch {
            throw LaunchwayError(.invalidArgument, errorMessage(error))
        }
        parts.device.configure(parts.app.settings(options), trust: parts.app.trust(parts.devicePorts, options))
        run.configure(options)
        parts.policy.configure()
    }

    func join(_ kind: Rounds.Kind, _ callback: @escaping Rounds.Callback) throws {
        let (parts, run) = try works()
        if kind == .sync {
            run.noteSync()
        }
        try parts.policy.join(kind, callback, options)
    }

    /// What is remembered, if this process may use it.
    func state() throws -> State {
        let (parts, run) = try works()
        if !parts.device.isMain {
            throw LaunchwayError.notMain
        }
        if let state = try parts.device.status()?.state {
            return state
        } else if let problem = run.outcome.problem {
            throw LaunchwayError(.stateCorrupt, problem)
        }
        throw LaunchwayError(.notStarted, "the app has not started yet")
    }
}

// Switching while the app runs.
extension Session {
    private func follow(_ kind: Rounds.Kind, _ result: RoundResult, isClaimed: Bool) {
        guard let parts = try? parts.get() else {
            return
        }
        parts.policy.remember(kind, result, isClaimed: isClaimed)
        if kind == .sync && result.status == .staged {
            apply()
        }
    }

    /// Switches to what the next start tries, if the app wants that now. Otherwise the next launch does.
    private func apply() {
        let isWanted = options.apply == .immediate || (options.apply == .onBackground && !isInForeground)
        guard isWanted, !switchedInVain, let before = run?.outcome.content, (try? state().boot.next) != nil,
            let show = try? switchContent()
        else {
            return
        }
        ports.callbacks.run(show)
        // Something that is offered, but cannot run, must not make the app start over and over.
        switchedInVain = run?.outcome.content == before
    }

    /// Starts again without a new process. That the present run ends is no fault of its content. Returns what shows the new
    /// content, where the app's callbacks are.
    func switchContent() throws -> () -> Void {
        let (parts, ending) = try works()
        marks.lock()
        let present = switcher
        marks.unlock()
        guard let switcher = present, switcher.canReload() else {
            throw LaunchwayError(
                .reloadUnsupported, "this framework cannot switch while the app runs; the next launch does")
        }
        let outcome = parts.device.start(Launch(binary: parts.app.binary, window: true, ending: .explained))
        if let problem = outcome.problem {
            throw LaunchwayError(.storage, problem)
        }
        ending.end()
        let begun = Run(parts.device, outcome, ports, events, options)
        marks.lock()
        currentRun = begun
        if !foreground {
            begun.tryToMark(.background)
        }
        marks.unlock()
        begin(begun)
        parts.rounds.forgetNext()
        let target = currentFolder
        return { switcher.reload(target) }
    }
}
