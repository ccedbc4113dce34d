// Reads little-endian numbers from the front of some bytes of a ZIP.

struct ZipBytes {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var left: Int { bytes.count - at }

    mutating func skip(_ count: Int) {
        at += count
    }

    mutating func take(_ count: Int) -> [UInt8] {
        at += count
        return Array(bytes[at - count..<at])
    }

    mutating func u16() -> Int {
        Int(number(2))
    }

    mutating func u32() -> Int {
        Int(number(4))
    }

    /// Numbers from 2^63 become the highest one below: no file is that long, so both are refused alike.
    mutating func u64() -> Int {
        Int(clamping: number(8))
    }

    private mutating func number(_ length: Int) -> UInt64 {
        at += length
        return bytes[at - length..<at].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
