// Integers modulo the prime of P-256, as much as the equation of the curve needs. They are public, so time tells nothing.

struct FieldElement: Equatable {
    /// Four words of 64 bits, the lowest first.
    private typealias Words = SIMD4<UInt64>

    private static let prime = Words(.max, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001)
    /// The constant of the curve y² = x³ − 3x + b.
    private static let b = FieldElement(
        words: Words(0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7))

    private let words: Words

    private init(words: Words) {
        self.words = words
    }

    /// The number that 32 bytes spell, the highest first; nil if it is not below the prime.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == 32 else {
            return nil
        }
        var words = Words()
        for (offset, byte) in bytes.reversed().enumerated() {
            words[offset / 8] |= UInt64(byte) << UInt64(8 * (offset % 8))
        }
        guard Self.subtract(Self.prime, from: words).borrow else {
            return nil
        }
        self.words = words
    }

    /// Whether an uncompressed point, `04`, X and Y, is on the curve.
    static func isOnCurve(_ point: [UInt8]) -> Bool {
        guard point.count == 65, point[0] == 4, let x = FieldElement(point[1..<33]), let y = FieldElement(point[33..<65])
        else {
            return false
        }
        return y * y + x + x + x == x * x * x + b
    }

    static func + (one: FieldElement, other: FieldElement) -> FieldElement {
        var sum = Words()
        var carry = false
        for at in 0..<4 {
            let (partial, first) = one.words[at].addingReportingOverflow(other.words[at])
            let (word, second) = partial.addingReportingOverflow(carry ? 1 : 0)
            sum[at] = word
            carry = first || second
        }
        let reduced = subtract(prime, from: sum)
        return FieldElement(words: carry || !reduced.borrow ? reduced.words : sum)
    }

    /// Bit by bit: slow, and simple enough to be right.
    static func * (one: FieldElement, other: FieldElement) -> FieldElement {
        var product = FieldElement(words: Words())
        for bit in (0..<256).reversed() {
            product = product + product
            if other.words[bit / 64] >> UInt64(bit % 64) & 1 == 1 {
                product = product + one
            }
        }
        return product
    }

    private static func subtract(_ less: Words, from words: Words) -> (words: Words, borrow: Bool) {
        var difference = Words()
        var borrow = false
        for at in 0..<4 {
            let (partial, first) = words[at].subtractingReportingOverflow(less[at])
            let (word, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
            difference[at] = word
            borrow = first || second
        }
        return (difference, borrow)
    }
}
