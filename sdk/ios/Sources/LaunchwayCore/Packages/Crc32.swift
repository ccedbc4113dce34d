// The CRC-32 of a ZIP entry, fed piece by piece.
import zlib

struct Crc32 {
    private var sum: UInt = 0

    var value: Int { Int(sum) }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        // For a null pointer, zlib begins again.
        if !bytes.isEmpty {
            sum = bytes.withUnsafeBufferPointer { crc32(sum, $0.baseAddress, UInt32($0.count)) }
        }
    }
}
