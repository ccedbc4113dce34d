// A disk in memory. Everything that was written is there for the next process.

@testable import LaunchwayCore

final class MemoryDisk: Storage {
    private(set) var files: [String: [UInt8]] = [:]
    private var folders: Set<String> = [""]
    private var isLocked = false
    /// Whether locking works at all.
    var hasLock = true
    /// How many bytes can still be written, as far as the client asks.
    var free = 1 << 30
    /// The call from which on calls fail, counted down; nil: none does.
    var callsUntilFailure: Int?
    /// Whether only that call fails.
    var failsOnce = false
    /// How many calls there were.
    private(set) var calls = 0

    /// The files below a folder, by their paths.
    func files(below folder: String) -> [String: [UInt8]] {
        files.filter { $0.key.hasPrefix(folder + "/") }
    }

    func put(_ path: String, _ bytes: [UInt8]) {
        try? makeFolder(WholeFiles.parent(path))
        files[path] = bytes
    }

    /// The same files on a disk that nobody has locked.
    func copy() -> MemoryDisk {
        let copy = MemoryDisk()
        copy.files = files
        copy.folders = folders
        copy.free = free
        return copy
    }

    private func call(_ action: String, _ path: String) throws {
        calls += 1
        if let left = callsUntilFailure {
            callsUntilFailure = left - 1
            if left == 1 || (left < 1 && !failsOnce) {
                throw failure(action, path)
            }
        }
    }

    private func failure(_ action: String, _ path: String) -> StorageError {
        .failed(action: action, path: path, code: 5)
    }

    func entry(_ path: String) throws -> Entry? {
        try call("read", path)
        return files[path].map { .file($0.count) } ?? (folders.contains(path) ? .folder : nil)
    }

    func list(_ path: String) throws -> [String] {
        try call("list", path)
        let prefix = path.isEmpty ? "" : path + "/"
        let below = Array(files.keys) + Array(folders)
        let names = below.filter { $0.hasPrefix(prefix) && $0 != path && !$0.isEmpty }
            .map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }
        return Set(names).sorted()
    }

    func open(_ path: String) throws -> Source {
        try call("open", path)
        guard let bytes = files[path] else {
            throw failure("open", path)
        }
        return MemoryFile(bytes)
    }

    func create(_ path: String) throws -> Target {
        try call("create", path)
        files[path] = []
        return try append(path)
    }

    func append(_ path: String) throws -> Target {
        guard folders.contains(WholeFiles.parent(path)) else {
            throw failure("create", path)
        }
        files[path] = files[path] ?? []
        return GrowingFile { [weak self] bytes in
            try self?.call("write", path)
            self?.files[path, default: []] += bytes
        }
    }

    func makeFolder(_ path: String) throws {
        try call("create", path)
        var folder = path
        while folders.insert(folder).inserted {
            folder = WholeFiles.parent(folder)
        }
    }

    func rename(_ from: String, to: String) throws {
        try call("rename", from)
        guard let bytes = files.removeValue(forKey: from) else {
            throw failure("rename", from)
        }
        files[to] = bytes
    }

    func removeFile(_ path: String) throws {
        try call("remove", path)
        files[path] = nil
    }

    func removeFolder(_ path: String) throws {
        try call("remove", path)
        guard try list(path).isEmpty else {
            throw failure("remove", path)
        }
        folders.remove(path)
    }

    func syncFolder(_ path: String) throws {
        try call("sync", path)
    }

    func freeSpace() throws -> Int {
        free
    }

    func lock() throws -> Lock? {
        guard hasLock else {
            throw failure("lock", "lock")
        }
        if isLocked {
            return nil
        }
        isLocked = true
        return MemoryLock { [weak self] in self?.isLocked = false }
    }
}

private final class MemoryFile: Source {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func length() throws -> Int {
        bytes.count
    }

    func read(from: Int, into buffer: inout [UInt8], count: Int) throws -> Int {
        let length = max(0, min(count, buffer.count, bytes.count - from))
        buffer.replaceSubrange(..<length, with: bytes[from..<from + length])
        return length
    }
}

private final class GrowingFile: Target {
    private let add: (ArraySlice<UInt8>) throws -> Void

    init(_ add: @escaping (ArraySlice<UInt8>) throws -> Void) {
        self.add = add
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        try add(bytes)
    }

    func sync() throws {}

    func close() throws {}
}

private final class MemoryLock: Lock {
    private var unlock: (() -> Void)?

    init(_ unlock: @escaping () -> Void) {
        self.unlock = unlock
    }

    func release() {
        unlock?()
        unlock = nil
    }

    deinit {
        release()
    }
}
