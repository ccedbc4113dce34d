// The partial file of a package, named by its SHA-256, with the validator of its bytes.

struct PartialFile {
    /// The folder of partial files.
    static let folder = "tmp"

    /// The most bytes of an ETag.
    private static let maxEtag = 256
    private static let chunk = 64 << 10

    /// Where the bytes are, in the client's storage.
    let path: String

    private let storage: Storage
    private let etagPath: String

    init(_ storage: Storage, _ sha256: Sha256) {
        self.storage = storage
        path = "\(Self.folder)/\(sha256.hex).part"
        etagPath = "\(Self.folder)/\(sha256.hex).etag"
    }

    /// How many bytes are there.
    func size() throws -> Int {
        guard case .file(let size)? = try storage.entry(path) else {
            return 0
        }
        return size
    }

    /// The strong ETag of the bytes; nil if none is known.
    func etag() throws -> String? {
        do {
            let bytes = try WholeFiles.read(storage, etagPath, max: Self.maxEtag)
            return bytes.flatMap(Utf8.decode).flatMap { Self.isStrong($0) ? $0 : nil }
        } catch StorageError.unsuitable {
            return nil
        }
    }

    /// Opens the file to add to its end.
    func append() throws -> Target {
        try storage.append(path)
    }

    /// Opens an empty file. Its validator is written first: a validator without bytes is harmless, bytes with another one's
    /// validator are not.
    func begin(etag: String?) throws -> Target {
        try storage.makeFolder(Self.folder)
        try storage.removeFile(path)
        if let etag = etag, Self.isStrong(etag) {
            try WholeFiles.replace(storage, etagPath, Utf8.encode(etag))
        } else {
            try storage.removeFile(etagPath)
        }
        return try storage.create(path)
    }

    func discard() throws {
        try storage.removeFile(etagPath)
        try storage.removeFile(path)
    }

    func digest() throws -> Sha256 {
        let source = try storage.open(path)
        var hash = Sha256Hash()
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var at = 0
        while true {
            let count = try source.read(from: at, into: &buffer, count: Self.chunk)
            if count == 0 {
                return hash.finish()
            }
            hash.update(buffer[..<count])
            at += count
        }
    }

    /// Only visible ASCII, because an ETag is sent in a header field.
    private static func isStrong(_ etag: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        let bytes = Array(etag.utf8)
        return bytes.count >= 3 && bytes.count <= maxEtag && bytes.first == quote && bytes.last == quote
            && bytes.allSatisfy { $0 > UInt8(ascii: " ") && $0 <= UInt8(ascii: "~") }
    }
}
