// PEM armor (RFC 7468) of one block, whatever its line breaks. The base64 in it has one spelling for each value, which
// decoders of the platforms do not insist on.

enum Pem {
    private static let lineLength = 64
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8: UInt32] = {
        let pairs = digits.enumerated().map { ($0.element, UInt32($0.offset)) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    /// The bytes of the one block of this label that the text consists of; nil for any other text.
    static func decode(_ text: String, label: String) -> [UInt8]? {
        let begin = Array("-----BEGIN \(label)-----".utf8)
        let end = Array("-----END \(label)-----".utf8)
        let trimmed = trim(text)
        guard trimmed.count >= begin.count + end.count, trimmed.starts(with: begin),
            trimmed.suffix(end.count).elementsEqual(end)
        else {
            return nil
        }
        return decodeBase64(trimmed.dropFirst(begin.count).dropLast(end.count))
    }

    /// A block with lines of 64 characters.
    static func encode(_ bytes: [UInt8], label: String) -> String {
        let all = encodeBase64(bytes)
        var lines = ["-----BEGIN \(label)-----"]
        for start in stride(from: 0, to: all.count, by: lineLength) {
            lines.append(String(decoding: all[start..<min(start + lineLength, all.count)], as: UTF8.self))
        }
        lines.append("-----END \(label)-----")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The UTF-8 of the text without white space around it.
    private static func trim(_ text: String) -> ArraySlice<UInt8> {
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let last = scalars.lastIndex { !$0.properties.isWhitespace }
        let end = last.map { scalars.index(after: $0) } ?? start
        return ArraySlice(String(scalars[start..<end]).utf8)
    }

    private static func isWhiteSpace(_ letter: UInt8) -> Bool {
        switch letter {
        case 0x20, 0x09, 0x0a, 0x0c, 0x0d: return true
        default: return false
        }
    }

    /// Nil unless the digits are the one spelling of the bytes, white space aside.
    private static func decodeBase64(_ letters: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for letter in letters where !isWhiteSpace(letter) {
            if letter == UInt8(ascii: "=") {
                padding += 1
                bits = bits << 6
            } else if let value = values[letter], padding == 0 {
                bits = bits << 6 | value
            } else {
                return nil
            }
            bits &= 0xff_ffff
            count += 1
            if count % 4 == 0 {
                bytes += [UInt8(bits >> 16), UInt8(bits >> 8 & 0xff), UInt8(bits & 0xff)]
            }
        }
        guard count % 4 == 0, padding <= 2 else {
            return nil
        }
        let unused = bytes.suffix(padding)
        return unused.allSatisfy { $0 == 0 } ? Array(bytes.dropLast(padding)) : nil
    }

    private static func encodeBase64(_ bytes: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(UInt32(0)) { bits, offset in
                bits << 8 | (offset < group.count ? UInt32(group[start + offset]) : 0)
            }
            for digit in 0..<4 {
                let value = Int(bits >> UInt32(18 - 6 * digit) & 63)
                letters.append(digit <= group.count ? digits[value] : UInt8(ascii: "="))
            }
        }
        return letters
    }
}
