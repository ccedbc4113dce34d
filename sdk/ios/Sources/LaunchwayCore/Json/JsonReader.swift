// A strict parser for hostile bytes (docs/reference/trust.md#json): every bound is checked before memory is taken.

struct JsonReader {
    /// Arrays and objects nest at most this deep.
    static let maxDepth = 32
    /// A value takes far more memory than the byte that spells it, so values are counted, too.
    static let maxValues = 100_000

    /// No UTF-8 text has this byte.
    private static let end: UInt8 = 0xff
    /// A sign and 16 digits.
    private static let maxIntegerLetters = 17

    private let bytes: [UInt8]
    private var at = 0
    private var values = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads one value of at most `limit` bytes; white space may surround it.
    static func read(_ bytes: [UInt8], limit: Int) throws -> JsonValue {
        guard bytes.count <= limit else {
            throw FormError(.tooLarge)
        }
        guard Utf8.decode(bytes) != nil else {
            throw FormError(.encoding)
        }
        var reader = JsonReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipWhiteSpace()
        guard reader.at == bytes.count else {
            throw FormError(.syntax)
        }
        return value
    }

    /// The next byte. At the end it is one that no JSON has.
    private func peek() -> UInt8 {
        at < bytes.count ? bytes[at] : Self.end
    }

    private mutating func skipWhiteSpace() {
        while true {
            switch peek() {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): at += 1
            default: return
            }
        }
    }

    /// Skips white space, then takes the character if it comes next.
    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        skipWhiteSpace()
        let isNext = peek() == UInt8(ascii: wanted)
        at += isNext ? 1 : 0
        return isNext
    }

    private mutating func expect(_ wanted: Unicode.Scalar) throws {
        guard take(wanted) else {
            throw FormError(.syntax)
        }
    }

    /// `depth` is the number of arrays and objects around the value.
    private mutating func value(depth: Int) throws -> JsonValue {
        skipWhiteSpace()
        values += 1
        guard values <= Self.maxValues else {
            throw FormError(.tooLarge)
        }
        let first = peek()
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.maxDepth else {
                throw FormError(.depth)
            }
            return first == UInt8(ascii: "{") ? try object(depth: depth + 1) : try array(depth: depth + 1)
        case UInt8(ascii: "\""):
            return .text(try string())
        case UInt8(ascii: "t"):
            return try word("true", .bool(true))
        case UInt8(ascii: "f"):
            return try word("false", .bool(false))
        case UInt8(ascii: "n"):
            return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .integer(try integer())
        default:
            throw FormError(.syntax)
        }
    }

    private mutating func word(_ word: String, _ value: JsonValue) throws -> JsonValue {
        guard bytes[at...].starts(with: word.utf8) else {
            throw FormError(.syntax)
        }
        at += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws -> JsonValue {
        try expect("{")
        var members = TextMap<JsonValue>()
        if take("}") {
            return .object(members)
        }
        repeat {
            skipWhiteSpace()
            let name = try string()
            try expect(":")
            guard members[name] == nil else {
                throw FormError(.duplicateName)
            }
            members[name] = try value(depth: depth)
        } while take(",")
        try expect("}")
        return .object(members)
    }

    private mutating func array(depth: Int) throws -> JsonValue {
        try expect("[")
        var items: [JsonValue] = []
        if take("]") {
            return .array(items)
        }
        repeat {
            items.append(try value(depth: depth))
        } while take(",")
        try expect("]")
        return .array(items)
    }

    /// Only the shortest spelling of an integer reads back as itself: no leading zeros, no `-0`, no fraction.
    private mutating func integer() throws -> Int {
        let start = at
        while Self.isPartOfNumber(peek()) {
            at += 1
        }
        let letters = bytes[start..<at]
        guard letters.count <= Self.maxIntegerLetters,
            let number = Int(String(decoding: letters, as: UTF8.self)),
            abs(number) <= JsonValue.maxInteger,
            String(number).utf8.elementsEqual(letters)
        else {
            throw FormError(.number)
        }
        return number
    }

    private static func isPartOfNumber(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            return true
        default:
            return false
        }
    }

    private mutating func string() throws -> String {
        guard peek() == UInt8(ascii: "\"") else {
            throw FormError(.syntax)
        }
        at += 1
        var content: [UInt8] = []
        while at < bytes.count {
            let next = bytes[at]
            if next == UInt8(ascii: "\"") {
                at += 1
                return String(decoding: content, as: UTF8.self)
            }
            if next == UInt8(ascii: "\\") {
                try escape(into: &content)
            } else if next < 0x20 {
                throw FormError(.syntax)
            } else {
                content.append(next)
                at += 1
            }
        }
        throw FormError(.syntax)
    }

    private mutating func escape(into content: inout [UInt8]) throws {
        at += 1
        let letter = peek()
        at += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            content.append(letter)
        case UInt8(ascii: "b"):
            content.append(0x08)
        case UInt8(ascii: "f"):
            content.append(0x0c)
        case UInt8(ascii: "n"):
            content.append(0x0a)
        case UInt8(ascii: "r"):
            content.append(0x0d)
        case UInt8(ascii: "t"):
            content.append(0x09)
        case UInt8(ascii: "u"):
            content.append(contentsOf: String(try scalar()).utf8)
        default:
            throw FormError(.syntax)
        }
    }

    /// What follows `\u`: one unit, or two that make a pair.
    private mutating func scalar() throws -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) {
            return scalar
        }
        guard UTF16.isLeadSurrogate(first), bytes[at...].starts(with: "\\u".utf8) else {
            throw FormError(.surrogate)
        }
        at += 2
        let second = try unit()
        let number = 0x10000 + (UInt32(first & 0x3ff) << 10 | UInt32(second & 0x3ff))
        guard UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(number) else {
            throw FormError(.surrogate)
        }
        return scalar
    }

    private mutating func unit() throws -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Self.hexDigit(peek()) else {
                throw FormError(.syntax)
            }
            unit = unit << 4 | digit
            at += 1
        }
        return unit
    }

    private static func hexDigit(_ letter: UInt8) -> UInt16? {
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return UInt16(letter - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"):
            return UInt16(letter - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"):
            return UInt16(letter - UInt8(ascii: "A") + 10)
        default:
            return nil
        }
    }
}
