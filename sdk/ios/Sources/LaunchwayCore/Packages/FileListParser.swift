// Reads a file list from its canonical bytes, and from no others: whatever parses is written back identically.

struct FileListParser {
    private static let digestDigits = 64
    /// Anything near the limits of a list fits.
    private static let maxSizeDigits = 10

    private let bytes: [UInt8]
    private var at = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func parse(_ bytes: [UInt8]) throws -> FileList {
        if bytes.count > FileList.maxCanonical {
            throw PackageError("the file list is too long")
        }
        var parser = FileListParser(bytes)
        return try parser.list()
    }

    private mutating func list() throws -> FileList {
        try expect("{\"alg\":\"\(FileList.algorithm)\",\"files\":[")
        var files: [ListedFile] = []
        while !skip("]}") {
            if !files.isEmpty {
                try expect(",")
            }
            if files.count == FileList.maxFiles {
                throw PackageError("a file list has at most \(FileList.maxFiles) files")
            }
            let file = try self.file()
            if let last = files.last, ExactText(last.path) >= ExactText(file.path) {
                throw wrong()
            }
            files.append(file)
        }
        if at < bytes.count {
            throw wrong()
        }
        return try FileList(files)
    }

    private func wrong() -> PackageError {
        PackageError("byte \(at) is not what the canonical form of a file list has there")
    }

    /// The next byte; nil at the end.
    private func peek() -> UInt8? {
        at < bytes.count ? bytes[at] : nil
    }

    private mutating func skip(_ expected: String) -> Bool {
        guard bytes[at...].starts(with: expected.utf8) else {
            return false
        }
        at += expected.utf8.count
        return true
    }

    private mutating func expect(_ expected: String) throws {
        if !skip(expected) {
            throw wrong()
        }
    }

    private mutating func file() throws -> ListedFile {
        try expect("{\"path\":\"")
        let path = try self.path()
        try expect(",\"sha256\":\"")
        let digits = Utf8.decode(Array(bytes[at...].prefix(FileListParser.digestDigits)))
        guard let sha256 = digits.flatMap({ Sha256($0) }) else {
            throw wrong()
        }
        at += FileListParser.digestDigits
        try expect("\",\"size\":")
        let size = try self.size()
        try expect("}")
        return ListedFile(path: path, size: size, sha256: sha256)
    }

    /// A path up to and including its closing quotation mark.
    private mutating func path() throws -> String {
        var path: [UInt8] = []
        while !skip("\"") {
            if skip("\\\"") {
                path.append(UInt8(ascii: "\""))
            } else if let next = peek(), next >= 0x20, next != UInt8(ascii: "\\") {
                path.append(next)
                at += 1
            } else {
                throw wrong()
            }
            if path.count > PackagePath.maxBytes {
                throw wrong()
            }
        }
        return try PackagePath.checkFile(path)
    }

    /// An integer without sign and leading zeros.
    private mutating func size() throws -> Int {
        let start = at
        var size = 0
        while let next = peek(), next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9"),
            at - start < FileListParser.maxSizeDigits
        {
            size = size * 10 + Int(next - UInt8(ascii: "0"))
            at += 1
        }
        let leadingZero = at - start > 1 && bytes[start] == UInt8(ascii: "0")
        if at == start || leadingZero {
            throw wrong()
        }
        return size
    }
}
