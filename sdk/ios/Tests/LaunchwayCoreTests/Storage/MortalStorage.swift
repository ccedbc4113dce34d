// A storage whose process dies, or whose disk fails, at a given call: that call and all later ones have no effect.

@testable import LaunchwayCore

final class MortalStorage: Storage {
    /// The disk failed.
    static let death = StorageError.failed(action: "reach", path: "", code: 5)

    private let storage: Storage
    /// The number of changes that still succeed.
    private var left: Int

    /// What `freeSpace` answers instead of the truth.
    var free: Int?

    init(_ storage: Storage, changes: Int = Int.max) {
        self.storage = storage
        left = changes
    }

    /// Whether the storage failed.
    var isDead: Bool { left < 0 }

    fileprivate func change<Result>(_ body: () throws -> Result) throws -> Result {
        left -= 1
        if left < 0 {
            left = -1
            throw MortalStorage.death
        }
        return try body()
    }

    private func look<Result>(_ body: () throws -> Result) throws -> Result {
        if isDead {
            throw MortalStorage.death
        }
        return try body()
    }

    func entry(_ path: String) throws -> Entry? {
        try look { try storage.entry(path) }
    }

    func list(_ path: String) throws -> [String] {
        try look { try storage.list(path) }
    }

    func open(_ path: String) throws -> Source {
        try look { try storage.open(path) }
    }

    func create(_ path: String) throws -> Target {
        try change { MortalTarget(self, try storage.create(path)) }
    }

    func append(_ path: String) throws -> Target {
        try change { MortalTarget(self, try storage.append(path)) }
    }

    func makeFolder(_ path: String) throws {
        try change { try storage.makeFolder(path) }
    }

    func rename(_ from: String, to: String) throws {
        try change { try storage.rename(from, to: to) }
    }

    func removeFile(_ path: String) throws {
        try change { try storage.removeFile(path) }
    }

    func removeFolder(_ path: String) throws {
        try change { try storage.removeFolder(path) }
    }

    func syncFolder(_ path: String) throws {
        try change { try storage.syncFolder(path) }
    }

    func freeSpace() throws -> Int {
        try look { try free ?? storage.freeSpace() }
    }

    func lock() throws -> Lock? {
        try look { try storage.lock() }
    }
}

private final class MortalTarget: Target {
    private let storage: MortalStorage
    private let target: Target

    init(_ storage: MortalStorage, _ target: Target) {
        self.storage = storage
        self.target = target
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        do {
            try storage.change { try target.write(bytes) }
        } catch let death as StorageError where death == MortalStorage.death {
            // Half of it may have arrived.
            try target.write(bytes.prefix(bytes.count / 2))
            throw MortalStorage.death
        }
    }

    func sync() throws {
        try storage.change { try target.sync() }
    }

    func close() throws {
        try storage.change { try target.close() }
    }
}
