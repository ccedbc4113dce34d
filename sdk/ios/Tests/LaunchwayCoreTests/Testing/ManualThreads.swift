// Threads and time that a test moves by hand.

@testable import LaunchwayCore

final class ManualThreads {
    /// A thread that runs when the test says so.
    final class ManualWorker: Worker {
        private var waiting: [() -> Void] = []

        func run(_ task: @escaping () -> Void) {
            waiting.append(task)
        }

        /// Returns whether a task waited.
        @discardableResult
        func runOne() -> Bool {
            if waiting.isEmpty {
                return false
            }
            waiting.removeFirst()()
            return true
        }
    }

    /// A clock that does not move until the test moves it.
    final class ManualTimer: SessionTimer {
        fileprivate final class Call: Alarm {
            let at: Int
            let task: () -> Void
            var isCanceled = false

            init(_ at: Int, _ task: @escaping () -> Void) {
                self.at = at
                self.task = task
            }

            func cancel() {
                isCanceled = true
            }
        }

        fileprivate var calls: [Call] = []
        fileprivate(set) var now = 5_000

        func after(_ milliseconds: Int, _ task: @escaping () -> Void) -> Alarm {
            let call = Call(now + milliseconds, task)
            calls.append(call)
            return call
        }

        /// The next call that is due by `end`; nil: there is none.
        fileprivate func due(_ end: Int) -> Call? {
            let next = calls.filter { !$0.isCanceled && $0.at <= end }.min { $0.at < $1.at }
            calls.removeAll { $0 === next }
            return next
        }
    }

    let rounds = ManualWorker()
    let tasks = ManualWorker()
    let callbacks = ManualWorker()
    let timer = ManualTimer()

    var ports: SessionPorts {
        SessionPorts(rounds: rounds, tasks: tasks, callbacks: callbacks, timer: timer)
    }

    /// Runs everything that waits, but no rounds with the server.
    func settleWithoutRounds() {
        while tasks.runOne() || callbacks.runOne() {}
    }

    /// Runs everything that waits.
    func settle() {
        settleWithoutRounds()
        while rounds.runOne() {
            settleWithoutRounds()
        }
    }

    /// Lets time pass, with everything that happens then.
    func pass(_ milliseconds: Int) {
        settle()
        let end = timer.now + milliseconds
        while let call = timer.due(end) {
            timer.now = call.at
            call.task()
            settle()
        }
        timer.now = end
    }
}
