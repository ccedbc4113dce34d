// Writes packages of stored entries.

@testable import LaunchwayCore

enum SmallZip {
    /// A package of these paths and contents.
    static func of(_ files: [(path: String, content: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let start = bytes.count
            let name = Utf8.encode(file.path)
            let content = Utf8.encode(file.content)
            var checksum = Crc32()
            checksum.update(content[...])
            let sizes = number(checksum.value, 4) + number(content.count, 4) + number(content.count, 4)
            // UTF-8 names, method 0, no time.
            let shared = number(20, 2) + number(1 << 11, 2) + number(0, 2) + number(0, 4) + sizes + number(name.count, 2)
            bytes += number(0x0403_4b50, 4) + shared + number(0, 2) + name + content
            directory += number(0x0201_4b50, 4) + number(20, 2) + shared + number(0, 12) + number(start, 4) + name
        }
        let count = number(files.count, 2)
        let end = number(0x0605_4b50, 4) + number(0, 4) + count + count
        return bytes + directory + end + number(directory.count, 4) + number(bytes.count, 4) + number(0, 2)
    }

    private static func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
    }
}
