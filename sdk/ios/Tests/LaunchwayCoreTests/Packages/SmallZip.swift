// Writes packages, of stored or deflated entries.
import zlib

@testable import LaunchwayCore

enum SmallZip {
    /// A package of these paths and contents.
    static func of(_ files: [(path: String, content: String)]) -> [UInt8] {
        of(files.map { ($0.path, Utf8.encode($0.content)) }, isDeflated: false)
    }

    /// A package of these paths and contents.
    static func of(_ files: [(path: String, bytes: [UInt8])], isDeflated: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let start = bytes.count
            let name = Utf8.encode(file.path)
            let data = isDeflated ? deflated(file.bytes) : file.bytes
            var checksum = Crc32()
            checksum.update(file.bytes[...])
            let sizes = number(checksum.value, 4) + number(data.count, 4) + number(file.bytes.count, 4)
            // UTF-8 names, no time.
            let flags = number(20, 2) + number(1 << 11, 2) + number(isDeflated ? 8 : 0, 2) + number(0, 4)
            let shared = flags + sizes + number(name.count, 2)
            bytes += number(0x0403_4b50, 4) + shared + number(0, 2) + name + data
            directory += number(0x0201_4b50, 4) + number(20, 2) + shared + number(0, 12) + number(start, 4) + name
        }
        let count = number(files.count, 2)
        let end = number(0x0605_4b50, 4) + number(0, 4) + count + count
        return bytes + directory + end + number(directory.count, 4) + number(bytes.count, 4) + number(0, 2)
    }

    private static func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 8 + 64)
        var input = bytes
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        let length = input.withUnsafeMutableBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to -> Int in
                stream.next_in = from.baseAddress
                stream.avail_in = UInt32(from.count)
                stream.next_out = to.baseAddress
                stream.avail_out = UInt32(to.count)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return to.count - Int(stream.avail_out)
            }
        }
        deflateEnd(&stream)
        return Array(output[..<length])
    }
}
