// The state files of the process that decides. A round works on the state for minutes, and the app may confirm, reset or
// switch meanwhile: while a round runs, all calls share its state.

import Foundation

final class Memory {
    private let storage: Storage
    /// Held by whoever changes the state or reads it to change it, but never while it waits for the network.
    private let states = NSRecursiveLock()
    /// Held to change `boot.json`, which has to be fast: the main thread notes there that the app leaves the foreground.
    private let attempts = NSLock()
    /// The state of the round that runs; nil: none runs.
    private var held: OpenState?

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// Does something while no other thread changes the state.
    func alone<Value>(_ body: () throws -> Value) rethrows -> Value {
        states.lock()
        defer { states.unlock() }
        return try body()
    }

    func load() throws -> Found<OpenState> {
        try alone {
            if let held = held {
                return .whole(held)
            }
            switch try StateFiles.loadState(storage) {
            case .nothing: return .nothing
            case .corrupt: return .corrupt
            case .whole(let state): return .whole(open(state))
            }
        }
    }

    func open(_ state: State) -> OpenState {
        OpenState(state, storage, self)
    }

    /// All calls share this state until `release`.
    func hold(_ open: OpenState) {
        alone { held = open }
    }

    func release() {
        alone { held = nil }
    }

    /// Sets a corrupt state aside, so that the next start begins with an empty state.
    func setStateAside() throws {
        try alone { try StateFiles.setStateAside(storage) }
    }

    func attempt() throws -> Attempt? {
        attempts.lock()
        defer { attempts.unlock() }
        return try StateFiles.loadAttempt(storage)
    }

    func save(_ attempt: Attempt) throws {
        attempts.lock()
        defer { attempts.unlock() }
        try StateFiles.saveAttempt(storage, attempt)
    }

    /// Changes what is noted of the attempt. Returns it; nil if none is known.
    @discardableResult
    func changeAttempt(_ change: (inout Attempt) -> Void) throws -> Attempt? {
        attempts.lock()
        defer { attempts.unlock() }
        guard var attempt = try StateFiles.loadAttempt(storage) else {
            return nil
        }
        change(&attempt)
        try StateFiles.saveAttempt(storage, attempt)
        return attempt
    }

    /// What runs, as far as it is known.
    func running() throws -> Content {
        try attempt()?.content ?? .embedded
    }
}

/// What is remembered, while a round or a call changes it.
final class OpenState {
    private let storage: Storage
    private let memory: Memory
    private var current: State

    fileprivate init(_ state: State, _ storage: Storage, _ memory: Memory) {
        current = state
        self.storage = storage
        self.memory = memory
    }

    var state: State {
        memory.alone { current }
    }

    /// Changes the state, in memory and on the disk or nowhere.
    func change(_ change: (inout State) -> Void) throws {
        try memory.alone {
            var changed = current
            change(&changed)
            try StateFiles.saveState(storage, changed)
            current = changed
        }
    }
}
