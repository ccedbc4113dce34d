// The file list of a package: its form, its canonical bytes and its digest, the manifest (docs/reference/file-lists.md).

struct FileList {
    /// The name of this form of list, which is part of its bytes.
    static let algorithm = "lwfl-1"

    static let maxFiles = 20_000
    /// The most bytes of all files together.
    static let maxTotal = 2 << 30
    /// The most canonical bytes of a list: as many files as allowed, with the longest paths.
    static let maxCanonical = 24 << 20

    /// In the order of their paths' bytes.
    let files: [ListedFile]
    private let byPath: TextMap<ListedFile>

    /// A list of these files, in any order.
    init(_ files: [ListedFile]) throws {
        if files.isEmpty {
            throw PackageError("a file list needs at least one file")
        }
        if files.count > FileList.maxFiles {
            throw PackageError("a file list has at most \(FileList.maxFiles) files")
        }
        var byPath = TextMap<ListedFile>()
        var total = 0
        for file in files {
            byPath[try PackagePath.checkFile(Utf8.encode(file.path))] = file
            if file.size < 0 || file.size > FileList.maxTotal - total {
                throw PackageError("the files of a list have at most \(FileList.maxTotal) bytes together")
            }
            total += file.size
        }
        try PackagePath.checkCollisions(files.map { $0.path })
        self.byPath = byPath
        self.files = byPath.ordered.map { $0.value }
    }

    /// The list of what a package holds. Reads and unpacks the whole package, to nowhere.
    static func of(_ archive: PackageArchive) throws -> FileList {
        try Unpacking.unpack(archive, list: nil, sink: nil)
    }

    /// Reads canonical bytes. Every other text is refused, also one with the same meaning.
    static func parse(_ bytes: [UInt8]) throws -> FileList {
        try FileListParser.parse(bytes)
    }

    /// The file with this path; nil if there is none.
    func find(_ path: String) -> ListedFile? {
        byPath[path]
    }

    func canonical() -> [UInt8] {
        var bytes: [UInt8] = []
        writeCanonical { bytes += $0 }
        return bytes
    }

    /// The digest of the canonical bytes, without holding them in memory.
    func manifest() -> Sha256 {
        var hash = Sha256Hash()
        writeCanonical { hash.update($0) }
        return hash.finish()
    }

    /// The RFC 8785 form, without a library, so that the digest does not depend on one.
    private func writeCanonical(_ target: ([UInt8]) -> Void) {
        target(Utf8.encode("{\"alg\":\"\(FileList.algorithm)\",\"files\":["))
        var before = ""
        for file in files {
            target(Utf8.encode("\(before){\"path\":\""))
            // A path has neither control characters nor backslashes, so that the quotation mark alone is escaped.
            target(FileList.escaped(file.path))
            target(Utf8.encode("\",\"sha256\":\"\(file.sha256)\",\"size\":\(file.size)}"))
            before = ","
        }
        target(Utf8.encode("]}"))
    }

    private static func escaped(_ path: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if byte == UInt8(ascii: "\"") {
                bytes.append(UInt8(ascii: "\\"))
            }
            bytes.append(byte)
        }
        return bytes
    }
}
