// A SHA-256 digest, written as 64 lower-case hexadecimal digits.

struct Sha256: Hashable, Comparable, CustomStringConvertible {
    private static let length = 32

    /// The 64 digits.
    let hex: String

    private init(hex: String) {
        self.hex = hex
    }

    /// The digest of these bytes.
    static func of(_ bytes: [UInt8]) -> Sha256 {
        var hash = Sha256Hash()
        hash.update(bytes)
        return hash.finish()
    }

    /// The digest that somebody computed; nil unless it has 32 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == Sha256.length else {
            return nil
        }
        self.init(hex: Hex.encode(bytes))
    }

    /// The digest that the text spells; nil for any other text.
    init?(_ text: String) {
        guard text.utf8.count == 2 * Sha256.length, Hex.decode(text) != nil else {
            return nil
        }
        self.init(hex: text)
    }

    var description: String { hex }

    static func < (one: Sha256, other: Sha256) -> Bool {
        one.hex < other.hex
    }
}
