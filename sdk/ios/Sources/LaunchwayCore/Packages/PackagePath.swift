// Paths in packages: which are allowed, and which meet on some device (docs/reference/file-lists.md#paths).
import Foundation

enum PackagePath {
    /// The most bytes of a path.
    static let maxBytes = 512
    /// The most bytes of a file name on common file systems.
    private static let maxPartBytes = 255
    /// Replaces the slash, and sorts before every character that paths may contain.
    private static let separator: UInt8 = 0
    private static let slash = UInt8(ascii: "/")

    /// Checks that a path stays inside the folder that it is unpacked to, on every system, and returns it. A trailing slash
    /// marks a folder.
    static func check(_ bytes: [UInt8]) throws -> String {
        guard let first = bytes.first else {
            throw PackageError("an entry has no name")
        }
        if bytes.count > maxBytes {
            throw PackageError("an entry has a path longer than \(maxBytes) bytes")
        }
        guard let path = Utf8.decode(bytes) else {
            throw PackageError("an entry has a name that is not UTF-8")
        }
        if path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw PackageError.entry(path, "has control characters in its path")
        }
        if bytes.contains(UInt8(ascii: "\\")) {
            throw PackageError.entry(path, "has a backslash in its path")
        }
        if first == slash {
            throw PackageError.entry(path, "has an absolute path")
        }
        if bytes.count > 1 && bytes[1] == UInt8(ascii: ":") && isLetter(first) {
            throw PackageError.entry(path, "starts with a drive letter")
        }
        try checkParts(path)
        return path
    }

    /// Checks the path of a file: as `check`, but it must not name a folder.
    static func checkFile(_ bytes: [UInt8]) throws -> String {
        let path = try check(bytes)
        if isFolder(path) {
            throw notPlain(path)
        }
        return path
    }

    /// Whether a path ends with a slash.
    static func isFolder(_ path: String) -> Bool {
        path.utf8.last == slash
    }

    /// The path without a folder's trailing slash.
    static func ofFile(_ path: String) -> String {
        isFolder(path) ? String(decoding: path.utf8.dropLast(), as: UTF8.self) : path
    }

    /// The parts of a path between its slashes, as bytes.
    static func parts(_ path: String) -> [[UInt8]] {
        Utf8.encode(path).split(separator: slash, omittingEmptySubsequences: false).map { Array($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func notPlain(_ path: String) -> PackageError {
        PackageError.entry(path, "has an empty part or a `.` in its path")
    }

    private static func checkParts(_ path: String) throws {
        let dot = UInt8(ascii: ".")
        for part in parts(ofFile(path)) {
            if part == [dot, dot] {
                throw PackageError.entry(path, "is outside the package")
            }
            if part.isEmpty || part == [dot] {
                throw notPlain(path)
            }
            if part.count > maxPartBytes {
                throw PackageError.entry(path, "has a part longer than \(maxPartBytes) bytes")
            }
        }
    }

    /// Checks that each of these paths is a place of its own on every device.
    static func checkCollisions(_ paths: [String]) throws {
        let places = paths.map { (place: place(ofFile($0)), path: $0) }
            .sorted { $0.place.lexicographicallyPrecedes($1.place) }
        // A file is directly followed by the entries that use it as a folder: their places begin with its own and the
        // lowest character.
        for (one, next) in zip(places, places.dropFirst()) {
            if next.place == one.place {
                throw PackageError.entry(next.path, "has the same path as another entry on some devices")
            }
            if !isFolder(one.path) && next.place.starts(with: one.place + [separator]) {
                throw PackageError.entry(one.path, "is a file, but other entries use it as a folder")
            }
        }
    }

    /// Where a path is on a device that ignores letter case and Unicode forms. Upper case comes first because it joins what
    /// lower case alone keeps apart, such as `ß` and `ss`. Each character is mapped alone, because its neighbors change what
    /// a sigma becomes.
    static func place(_ path: String) -> [UInt8] {
        var folded = path
        if path.utf8.contains(where: { $0 >= 0x80 }) {
            let decomposed = path.decomposedStringWithCanonicalMapping
            let upper = mapped(decomposed) { $0.properties.uppercaseMapping }
            let lower = mapped(upper) { $0.properties.lowercaseMapping }
            folded = lower.precomposedStringWithCanonicalMapping
        } else {
            folded = path.lowercased()
        }
        return folded.utf8.map { $0 == slash ? separator : $0 }
    }

    private static func mapped(_ text: String, _ map: (Unicode.Scalar) -> String) -> String {
        var mapped = String.UnicodeScalarView()
        for character in text.unicodeScalars {
            mapped.append(contentsOf: map(character).unicodeScalars)
        }
        return String(mapped)
    }
}
