// Letters and digits of ASCII, as bytes: what other scripts have is neither.

enum Ascii {
    static func isDigit(_ letter: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter)
    }

    static func isAlphanumeric(_ letter: UInt8) -> Bool {
        isDigit(letter) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased(letter))
    }

    static func lowercased(_ letter: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter + 0x20 : letter
    }
}
