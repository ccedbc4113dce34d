// The storage on a folder of the file system that belongs to the client alone.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

final class Folder: Storage {
    private static let lockFile = "lock"

    /// Where the folder is in the file system.
    let root: String

    /// Uses the folder at `root`, and creates it and its parents if they are missing.
    init(_ root: String) throws {
        self.root = root
        try makeFolder("")
    }

    /// Where a path is in the file system.
    func file(_ path: String) -> String {
        path.isEmpty ? root : root + "/" + path
    }

    func entry(_ path: String) throws -> Entry? {
        try Posix.entry(file(path))
    }

    func list(_ path: String) throws -> [String] {
        try Posix.names(file(path)) ?? []
    }

    func open(_ path: String) throws -> Source {
        OpenFile(try Posix.openFile(file(path), O_RDONLY))
    }

    func create(_ path: String) throws -> Target {
        WrittenFile(try Posix.openFile(file(path), O_WRONLY | O_CREAT | O_TRUNC))
    }

    func append(_ path: String) throws -> Target {
        WrittenFile(try Posix.openFile(file(path), O_WRONLY | O_CREAT | O_APPEND))
    }

    func makeFolder(_ path: String) throws {
        var missing: [String] = []
        var folder = file(path)
        while try Posix.entry(folder) == nil {
            missing.append(folder)
            folder = WholeFiles.parent(folder)
            if folder.isEmpty {
                break
            }
        }
        if missing.isEmpty {
            // What is there may be no folder.
            missing.append(folder)
        }
        for each in missing.reversed() {
            try Posix.makeFolder(each)
        }
    }

    func rename(_ from: String, to: String) throws {
        try Posix.renameFile(file(from), to: file(to))
    }

    func removeFile(_ path: String) throws {
        try Posix.removeFile(file(path))
    }

    func removeFolder(_ path: String) throws {
        try Posix.removeFolder(file(path))
    }

    func syncFolder(_ path: String) throws {
        try Posix.syncFile(try Posix.openFile(file(path), O_RDONLY | O_DIRECTORY))
    }

    func freeSpace() throws -> Int {
        try Posix.freeSpace(root)
    }

    func lock() throws -> Lock? {
        let opened = try Posix.openFile(file(Folder.lockFile), O_RDWR | O_CREAT)
        return try Posix.lockFile(opened) ? HeldLock(opened) : nil
    }
}

private final class OpenFile: Source {
    private let file: Posix.Descriptor

    init(_ file: Posix.Descriptor) {
        self.file = file
    }

    func length() throws -> Int {
        try Posix.fileSize(file)
    }

    func read(from: Int, into buffer: inout [UInt8], count: Int) throws -> Int {
        try Posix.readFile(file, from: from, into: &buffer, count: count)
    }
}

private final class WrittenFile: Target {
    private let file: Posix.Descriptor

    init(_ file: Posix.Descriptor) {
        self.file = file
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        try Posix.writeFile(file, bytes)
    }

    func sync() throws {
        try Posix.syncFile(file)
    }

    func close() throws {
        try Posix.closeFile(file)
    }
}

/// Closing the file releases the lock, and so does the end of the process.
private final class HeldLock: Lock {
    private var file: Posix.Descriptor?

    init(_ file: Posix.Descriptor) {
        self.file = file
    }

    func release() {
        file = nil
    }
}
