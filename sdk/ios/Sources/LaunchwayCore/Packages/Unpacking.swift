// Unpacks a whole package, hashed while it is written. Nothing that its list does not name is written, and nothing of a
// package without the entry file, or with native code, that the app may not load over the air.

enum Unpacking {
    private static let nativeCode = ["so", "dex", "jar", "dylib", "framework"].map { Utf8.encode($0) }
    /// Within the name of a versioned library, such as `libc.so.6`.
    private static let versioned = Utf8.encode(".so.")

    /// Checks what the directory tells, before anything is written. `list` is the package's file list where that is known, and
    /// `entryFile` the file that the app starts with.
    static func check(_ archive: PackageArchive, list: FileList?, entryFile: String) throws {
        var found: Set<ExactText> = []
        for entry in archive.entries {
            // A framework is a folder, so every part of a path counts.
            if PackagePath.parts(entry.path).contains(where: isNativeCode) {
                throw entry.refused("is native code, which updates must not contain")
            }
            if !entry.isFolder {
                found.insert(ExactText(entry.path))
                try checkListed(entry, list)
            }
        }
        for file in list?.files ?? [] where !found.contains(ExactText(file.path)) {
            throw PackageError.entry(file.path, "is in the file list, but not in the package")
        }
        if !found.contains(ExactText(entryFile)) {
            throw PackageError("the package does not contain `\(entryFile)`, with which the app starts")
        }
    }

    private static func checkListed(_ entry: PackageEntry, _ list: FileList?) throws {
        if let list = list, list.find(entry.path)?.size != entry.size {
            throw entry.refused("is not in the file list")
        }
    }

    private static func isNativeCode(_ name: [UInt8]) -> Bool {
        let lower = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        guard let dot = lower.lastIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        let isVersioned = lower.indices.contains { lower[$0...].starts(with: versioned) }
        return isVersioned || nativeCode.contains(Array(lower[(dot + 1)...]))
    }

    /// Unpacks all files, after `check`, and returns their list. `sink` may be nil to only read them. What was written is
    /// worthless if this fails: with `PackageError` if the package breaks a rule or a file is not the listed one, and with
    /// another error if the package cannot be read or a file cannot be written.
    static func unpack(_ archive: PackageArchive, list: FileList?, sink: UnpackingSink?) throws -> FileList {
        var files: [ListedFile] = []
        for (index, entry) in archive.entries.enumerated() {
            if entry.isFolder {
                // Folders come with their files; the header is checked all the same.
                _ = try archive.unpack(index, into: nil)
                continue
            }
            try checkListed(entry, list)
            let target = try sink?.create(entry.path)
            let file = ListedFile(path: entry.path, size: entry.size, sha256: try archive.unpack(index, into: target))
            try target?.sync()
            try target?.close()
            if let list = list, list.find(file.path) != file {
                throw entry.refused("is not the listed file")
            }
            files.append(file)
        }
        return try FileList(files)
    }
}

/// Where files are written to.
protocol UnpackingSink {
    /// Creates a file. Its path keeps the rules of paths. It is synced and closed when it is whole.
    func create(_ path: String) throws -> Target
}
