// The folder of the client. Paths are relative, with slashes, and never climb; links are not followed. Every method throws
// `StorageError` if the storage fails.

protocol Storage: AnyObject {
    /// What a path names; nil: nothing.
    func entry(_ path: String) throws -> Entry?

    /// The names in a folder; none when it is missing.
    func list(_ path: String) throws -> [String]

    /// Opens a file to read it. A missing one is an error.
    func open(_ path: String) throws -> Source

    /// Creates a file and empties what was there.
    func create(_ path: String) throws -> Target

    /// Opens a file to add to its end, and creates it if it is missing.
    func append(_ path: String) throws -> Target

    /// Creates a folder, and its parents. One that exists is fine.
    func makeFolder(_ path: String) throws

    /// Renames a file and replaces what has the new name.
    func rename(_ from: String, to: String) throws

    /// Removes a file. A missing one is fine.
    func removeFile(_ path: String) throws

    /// Removes an empty folder. A missing one is fine.
    func removeFolder(_ path: String) throws

    /// Returns when the names in a folder are on disk.
    func syncFolder(_ path: String) throws

    /// The number of bytes that can still be written.
    func freeSpace() throws -> Int

    /// Takes the lock until it is released, or the process ends; nil: somebody else has it.
    func lock() throws -> Lock?
}

/// A file that is read from any place. It is closed when nobody refers to it any more.
protocol Source: AnyObject {
    func length() throws -> Int

    /// Reads at most `count` bytes, from the offset `from`, into the front of `buffer`. Returns how many; 0 at the end.
    func read(from: Int, into buffer: inout [UInt8], count: Int) throws -> Int
}

/// A file that is written. It is closed when nobody refers to it any more, if it was not before.
protocol Target: AnyObject {
    func write(_ bytes: ArraySlice<UInt8>) throws

    /// Returns when everything written is on disk.
    func sync() throws

    func close() throws
}

extension Target {
    func write(_ bytes: [UInt8]) throws {
        try write(bytes[...])
    }
}

/// Held as long as this process alone may write, at most until nobody refers to it any more.
protocol Lock: AnyObject {
    func release()
}

/// What a path names.
enum Entry: Equatable {
    /// A file of so many bytes.
    case file(Int)
    case folder
    /// Anything else, such as a link.
    case other

    var isFile: Bool {
        if case .file = self { return true }
        return false
    }
}
