// Whole files and folders: bounded reads, replacement that survives a power cut, removal.

enum WholeFiles {
    /// The bytes of a file; nil: there is none. Throws `StorageError.unsuitable` for a file with more than `max` bytes, and
    /// for what is no file.
    static func read(_ storage: Storage, _ path: String, max: Int) throws -> [UInt8]? {
        guard let entry = try storage.entry(path) else {
            return nil
        }
        guard case .file(let size) = entry, size <= max else {
            throw StorageError.unsuitable(path: path)
        }
        let source = try storage.open(path)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        var buffer = [UInt8](repeating: 0, count: min(size, 64 << 10))
        while bytes.count < size {
            let count = try source.read(from: bytes.count, into: &buffer, count: size - bytes.count)
            if count == 0 {
                break
            }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Replaces a file: whoever reads it, also after a power cut, finds the old bytes or the new ones.
    static func replace(_ storage: Storage, _ path: String, _ bytes: [UInt8]) throws {
        let temporary = path + ".new"
        let target = try storage.create(temporary)
        try target.write(bytes)
        try target.sync()
        try target.close()
        try storage.rename(temporary, to: path)
        try storage.syncFolder(parent(path))
    }

    /// The folder of a path; the client's own folder is the empty path.
    static func parent(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return ""
        }
        return String(path[..<slash])
    }

    /// The path of `name` in `folder`.
    static func join(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : folder + "/" + name
    }

    /// Removes a file or a folder with everything in it. A missing one is fine.
    static func removeTree(_ storage: Storage, _ path: String) throws {
        guard try storage.entry(path) == .folder else {
            try storage.removeFile(path)
            return
        }
        // Folders are listed again after their contents are deleted: no recursion, whatever the depth.
        var folders = [path]
        while let folder = folders.last {
            var inner: String?
            for name in try storage.list(folder) {
                let child = join(folder, name)
                if try storage.entry(child) == .folder {
                    inner = child
                } else {
                    try storage.removeFile(child)
                }
            }
            if let inner = inner {
                folders.append(inner)
            } else {
                try storage.removeFolder(folder)
                folders.removeLast()
            }
        }
    }
}
