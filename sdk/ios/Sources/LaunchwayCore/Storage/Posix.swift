// The system calls that the storage needs. A call that a signal interrupted is made again; one that fails throws.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

enum Posix {
    /// An open file, closed with the last reference.
    final class Descriptor {
        fileprivate var number: Int32
        fileprivate let path: String

        fileprivate init(_ number: Int32, _ path: String) {
            self.number = number
            self.path = path
        }

        deinit {
            if number >= 0 {
                _ = close(number)
            }
        }
    }

    /// Opens a file, but no link.
    static func openFile(_ path: String, _ flags: Int32) throws -> Descriptor {
        let number = try retried("open", path) { open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        return Descriptor(number, path)
    }

    static func closeFile(_ file: Descriptor) throws {
        let number = file.number
        file.number = -1
        // What happens to the number of an interrupted call is not known, so the call is not made again.
        if number >= 0, close(number) != 0, errno != EINTR {
            throw StorageError.failed(action: "close", path: file.path, code: errno)
        }
    }

    static func readFile(_ file: Descriptor, from: Int, into buffer: inout [UInt8], count: Int) throws -> Int {
        let wanted = min(count, buffer.count)
        return try retried("read", file.path) {
            buffer.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, wanted, off_t(from)) }
        }
    }

    static func writeFile(_ file: Descriptor, _ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = try retried("write", file.path) {
                rest.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns when the content of a file, or the names in a folder, are on disk.
    static func syncFile(_ file: Descriptor) throws {
        #if canImport(Darwin)
        // Here, `fsync` leaves bytes in the memory of the drive. Not every file system knows the other call.
        if fcntl(file.number, F_FULLFSYNC) == 0 {
            return
        }
        #endif
        _ = try retried("sync", file.path) { fsync(file.number) }
    }

    /// Whether the lock of a file was free.
    static func lockFile(_ file: Descriptor) throws -> Bool {
        do {
            _ = try retried("lock", file.path) { flock(file.number, LOCK_EX | LOCK_NB) }
            return true
        } catch StorageError.failed(_, _, EWOULDBLOCK) {
            return false
        }
    }

    /// The size of an open file.
    static func fileSize(_ file: Descriptor) throws -> Int {
        var found = stat()
        _ = try retried("read", file.path) { fstat(file.number, &found) }
        return Int(found.st_size)
    }

    /// What a path names; nil: nothing.
    static func entry(_ path: String) throws -> Entry? {
        var found = stat()
        do {
            _ = try retried("read", path) { lstat(path, &found) }
        } catch StorageError.failed(_, _, let code) where code == ENOENT || code == ENOTDIR {
            return nil
        }
        switch found.st_mode & S_IFMT {
        case S_IFREG: return .file(Int(found.st_size))
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// The names in a folder; nil if there is none.
    static func names(_ path: String) throws -> [String]? {
        let file: Descriptor
        do {
            file = try openFile(path, O_RDONLY | O_DIRECTORY)
        } catch StorageError.failed(_, _, ENOENT) {
            return nil
        }
        guard let folder = fdopendir(file.number) else {
            throw StorageError.failed(action: "list", path: path, code: errno)
        }
        // Closing the folder closes the file.
        file.number = -1
        defer { closedir(folder) }
        var names: [String] = []
        errno = 0
        while let found = readdir(folder) {
            guard let name = Utf8.decode(nameBytes(found)) else {
                throw StorageError.failed(action: "list", path: path, code: EILSEQ)
            }
            if name != "." && name != ".." {
                names.append(name)
            }
            errno = 0
        }
        if errno != 0 {
            throw StorageError.failed(action: "list", path: path, code: errno)
        }
        return names
    }

    /// The bytes of a name. The record ends with them, so it is never copied in its full declared length.
    private static func nameBytes(_ found: UnsafeMutablePointer<dirent>) -> [UInt8] {
        guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else {
            return []
        }
        let start = UnsafeRawPointer(found).advanced(by: offset).assumingMemoryBound(to: CChar.self)
        return UnsafeRawBufferPointer(start: start, count: strlen(start)).map { $0 }
    }

    static func makeFolder(_ path: String) throws {
        do {
            _ = try retried("create", path) { mkdir(path, 0o700) }
        } catch StorageError.failed(_, _, EEXIST) {
            var found = stat()
            guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else {
                throw StorageError.failed(action: "create", path: path, code: EEXIST)
            }
        }
    }

    static func renameFile(_ from: String, to: String) throws {
        _ = try retried("rename", from) { rename(from, to) }
    }

    /// A missing file is fine.
    static func removeFile(_ path: String) throws {
        try ignoringMissing { _ = try retried("remove", path) { unlink(path) } }
    }

    /// A missing folder is fine.
    static func removeFolder(_ path: String) throws {
        try ignoringMissing { _ = try retried("remove", path) { rmdir(path) } }
    }

    /// The bytes that are free where a path is.
    static func freeSpace(_ path: String) throws -> Int {
        var found = statvfs()
        _ = try retried("measure", path) { statvfs(path, &found) }
        let (bytes, overflow) = Int(found.f_bavail).multipliedReportingOverflow(by: Int(found.f_frsize))
        return overflow ? Int.max : bytes
    }

    private static func ignoringMissing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch StorageError.failed(_, _, ENOENT) {
            return
        }
    }

    private static func retried<Result: SignedInteger>(
        _ action: String, _ path: String, _ call: () -> Result
    ) throws -> Result {
        while true {
            let result = call()
            if result >= 0 {
                return result
            }
            if errno != EINTR {
                throw StorageError.failed(action: action, path: path, code: errno)
            }
        }
    }
}
