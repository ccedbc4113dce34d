// Counts the time that a trial is in the foreground without confirmation (`docs/reference/sdk.md#watchdog`). It is called on the
// thread of tasks.

final class Watchdog {
    private let tasks: Worker
    private let timer: SessionTimer
    /// Called once.
    var expired: () -> Void = {}
    private var limit: Int
    /// The time in the foreground before the present stay there.
    private var spent = 0
    /// When the present stay began; nil: the app is not in the foreground.
    private var since: Int?
    private var isStopped = false
    private var alarm: Alarm?

    /// Expires after `limit` milliseconds.
    init(_ ports: SessionPorts, limit: Int) {
        tasks = ports.tasks
        timer = ports.timer
        self.limit = limit
    }

    func resume() {
        if !isStopped && since == nil {
            since = timer.now
            arm()
        }
    }

    func pause() {
        if let since = since {
            spent += timer.now - since
            self.since = nil
            alarm?.cancel()
        }
    }

    func setLimit(_ milliseconds: Int) {
        let counts = since != nil
        pause()
        limit = milliseconds
        if counts {
            resume()
        }
    }

    func stop() {
        pause()
        isStopped = true
    }

    private func arm() {
        alarm = timer.after(max(0, limit - spent)) { [weak self, tasks] in
            tasks.run { self?.check() }
        }
    }

    /// The alarm may come from an earlier stay, or a little early.
    private func check() {
        if since == nil {
            return
        }
        pause()
        if spent >= limit {
            isStopped = true
            expired()
        } else {
            resume()
        }
    }
}
