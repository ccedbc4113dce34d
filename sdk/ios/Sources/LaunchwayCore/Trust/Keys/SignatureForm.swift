// Which bytes are an ECDSA signature on P-256. Libraries judge it differently, and some took a signature of zeros for one of
// any message.

enum SignatureForm {
    /// The order of the curve.
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]
    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02
    /// Two integers of 33 bytes, each with a header of two.
    private static let maxContent = 70

    /// Whether the bytes are the DER of two integers from 1 to the order of the curve, in its one spelling.
    static func isValid(_ der: [UInt8]) -> Bool {
        guard der.count >= 2, der.count <= maxContent + 2, der[0] == sequence, Int(der[1]) == der.count - 2,
            let afterFirst = dropInteger(der[2...]), let afterBoth = dropInteger(afterFirst)
        else {
            return false
        }
        return afterBoth.isEmpty
    }

    /// What follows the integer; nil if there is none.
    private static func dropInteger(_ der: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let content = der.dropFirst(2)
        guard der.count > 2, der.first == integer, let length = der.dropFirst().first.map(Int.init), length > 0,
            length <= content.count
        else {
            return nil
        }
        return isInRange(content.prefix(length)) ? content.dropFirst(length) : nil
    }

    private static func isInRange(_ content: ArraySlice<UInt8>) -> Bool {
        guard let first = content.first, first < 0x80 else {
            return false
        }
        // A zero comes first only before a byte that would make the number negative.
        let digits = first == 0 ? content.dropFirst() : content
        guard let highest = digits.first, highest != 0, first != 0 || highest >= 0x80 else {
            return false
        }
        return digits.count < order.count || (digits.count == order.count && digits.lexicographicallyPrecedes(order))
    }
}
