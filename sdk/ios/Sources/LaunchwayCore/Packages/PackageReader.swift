// Reads a package without ever trusting its length.

final class PackageReader {
    private static let chunkSize = 1 << 16

    let length: Int
    private let source: Source

    /// The bytes that were read last, and their offset.
    private var chunk = [UInt8](repeating: 0, count: PackageReader.chunkSize)
    private var chunkStart = 0
    private var chunkLength = 0

    init(_ source: Source) throws {
        self.source = source
        length = try source.length()
    }

    /// Exactly `count` bytes. The caller knows that they exist.
    func read(from: Int, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            bytes += try some(from: from + bytes.count, limit: count - bytes.count)
        }
        return bytes
    }

    /// At least one byte, and at most `limit`, which is above zero.
    func some(from: Int, limit: Int) throws -> ArraySlice<UInt8> {
        if from < chunkStart || from >= chunkStart + chunkLength {
            chunkLength = 0
            chunkStart = from
            chunkLength = try source.read(from: from, into: &chunk, count: PackageReader.chunkSize)
            if chunkLength == 0 {
                throw StorageError.unsuitable(path: "a package that has shrunk while it was read")
            }
        }
        let start = from - chunkStart
        return chunk[start..<start + min(chunkLength - start, limit)]
    }
}
