// One start of content in this process: what it has to tell, whether it has proved itself, and the watchdog until then. It is
// called on the thread of tasks, unless it says otherwise.

import Foundation

final class Run {
    /// Content that crashes after this is not in a crash loop.
    private static let settleMs = 10_000

    let outcome: StartOutcome

    private let device: Device
    private let ports: SessionPorts
    private let events: Events
    private var options: Options
    private let watchdog: Watchdog
    private let lock = NSLock()
    /// Guarded by the lock.
    private var isDisowned = false
    private var settling: Alarm?
    private var isInForeground = false
    private var isDrawn = false
    private var syncCalled = false
    private var isReady = false
    private var hasEnded = false

    init(_ device: Device, _ outcome: StartOutcome, _ ports: SessionPorts, _ events: Events, _ options: Options) {
        self.device = device
        self.outcome = outcome
        self.ports = ports
        self.events = events
        self.options = options
        watchdog = Watchdog(ports, limit: options.readyTimeoutMs)
        watchdog.expired = { [weak self] in self?.tryToMark(.hang) }
    }

    /// Whether what happens is noted: only if this run is the attempt that is recorded, and its content is what runs. Every
    /// thread may ask.
    var isNoted: Bool {
        lock.lock()
        defer { lock.unlock() }
        return outcome.isRecorded && !isDisowned
    }

    /// Other content runs. Every thread may say so.
    func disown() {
        lock.lock()
        isDisowned = true
        lock.unlock()
    }

    /// `isDrawn`: whether the app has drawn a frame.
    func begin(_ chosen: Options, isInForeground: Bool, isDrawn: Bool) {
        self.isDrawn = isDrawn
        let status = try? device.status()
        announce(status)
        watchdog.setLimit(chosen.readyTimeoutMs)
        options = chosen
        let needsProof = status?.state.boot.trial ?? true
        if !isNoted || !needsProof {
            watchdog.stop()
        }
        let tasks = ports.tasks
        settling = ports.timer.after(Self.settleMs) { [weak self] in
            tasks.run { self?.settle() }
        }
        if isInForeground {
            enterForeground()
        }
    }

    private func settle() {
        if !hasEnded {
            tryToMark(.settled)
        }
    }

    /// Other content takes over.
    func end() {
        hasEnded = true
        watchdog.stop()
        settling?.cancel()
    }

    func configure(_ chosen: Options) {
        options = chosen
        watchdog.setLimit(options.readyTimeoutMs)
        confirmIfReady()
    }

    func enterForeground() {
        isInForeground = true
        watchdog.resume()
        confirmIfReady()
    }

    func leaveForeground() {
        isInForeground = false
        watchdog.pause()
    }

    func draw() {
        isDrawn = true
        confirmIfReady()
    }

    /// The app has called `sync()`.
    func noteSync() {
        syncCalled = true
        confirmIfReady()
    }

    private func confirmIfReady() {
        let works = syncCalled && isDrawn && isInForeground
        if !isReady && options.readyMode == .auto && works {
            // If the storage fails, the next sign of life tries again. Until then the trial continues.
            _ = try? confirm()
        }
    }

    /// The content has proved itself. Returns whether it was a trial.
    func confirm() throws -> Bool {
        let wasTrial = try isNoted && device.confirm()
        watchdog.stop()
        if !isReady {
            isReady = true
            events.emit(LaunchwayEvent(.appReady, Self.update(try? device.status(), outcome.content)))
        }
        return wasTrial
    }

    /// Notes what happens now. An app does not fail because that cannot be written. Every thread may call it.
    func tryToMark(_ mark: Mark) {
        if isNoted {
            try? device.mark(mark)
        }
    }

    private func announce(_ status: Status?) {
        for event in outcome.events where event.kind == .rolledBack || event.kind == .failed {
            let kind = event.kind == .rolledBack ? LaunchwayEvent.Kind.rolledBack : .updateFailed
            let update = Self.update(status, event.content)
            events.emit(LaunchwayEvent(kind, update, reason: event.reason?.rawValue))
        }
        if let previous = outcome.previous, previous != outcome.content {
            events.emit(LaunchwayEvent(.updateApplied, Self.update(status, outcome.content)))
        }
    }

    /// The update behind content; nil for the embedded app.
    private static func update(_ status: Status?, _ content: Content) -> UpdateInfo? {
        guard let id = content.slot else {
            return nil
        }
        let unknown = UpdateInfo(id: id.hex, version: "", buildNumber: "", sha256: id.hex)
        return status?.state.slot(id).map { UpdateInfo($0) } ?? unknown
    }
}
