// Passes events to the app's listeners. What a start did waits for the first of them. Every thread may call it.

import Foundation

final class Events {
    typealias Listener = (LaunchwayEvent) -> Void

    /// The most events that wait; the oldest leave first.
    private static let maxWaiting = 16

    private let callbacks: Worker
    /// Guards everything below.
    private let lock = NSLock()
    private var listeners: [(number: Int, listener: Listener)] = []
    private var waiting: [LaunchwayEvent] = []
    private var count = 0

    init(_ callbacks: Worker) {
        self.callbacks = callbacks
    }

    /// Returns the number by which the listener is removed.
    func add(_ listener: @escaping Listener) -> Int {
        lock.lock()
        defer { lock.unlock() }
        count += 1
        listeners.append((count, listener))
        for event in waiting {
            deliver(event)
        }
        waiting = []
        return count
    }

    func remove(_ number: Int) {
        lock.lock()
        defer { lock.unlock() }
        listeners.removeAll { $0.number == number }
    }

    func emit(_ event: LaunchwayEvent) {
        lock.lock()
        defer { lock.unlock() }
        if !listeners.isEmpty {
            deliver(event)
        } else if event.kind.waits {
            waiting = waiting.suffix(Self.maxWaiting - 1) + [event]
        }
    }

    private func deliver(_ event: LaunchwayEvent) {
        let receivers = listeners.map(\.listener)
        callbacks.run { receivers.forEach { $0(event) } }
    }
}
