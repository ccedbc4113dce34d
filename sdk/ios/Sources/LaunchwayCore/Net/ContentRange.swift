// The header field of a partial response, such as `bytes 5-9/10`.

struct ContentRange {
    private static let maxDigits = 18
    private static let unit = "bytes "

    /// The first byte.
    let start: Int
    /// The size of the whole; nil if the server does not know it.
    let whole: Int?

    /// Nil for a missing or malformed field.
    static func parse(_ value: String?) -> ContentRange? {
        guard let value = value, value.hasPrefix(unit) else {
            return nil
        }
        let rest = value.dropFirst(unit.count)
        guard let dash = rest.firstIndex(of: "-"), let slash = rest.firstIndex(of: "/"), dash < slash else {
            return nil
        }
        let size = rest[rest.index(after: slash)...]
        guard let start = number(rest[..<dash]),
            let end = number(rest[rest.index(after: dash)..<slash]), end >= start
        else {
            return nil
        }
        if size == "*" {
            return ContentRange(start: start, whole: nil)
        }
        return number(size).map { ContentRange(start: start, whole: $0) }
    }

    /// The number that the digits spell; nil for any other text.
    private static func number(_ digits: Substring) -> Int? {
        let isNumber = digits.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return isNumber && digits.utf8.count <= maxDigits ? Int(digits) : nil
    }
}
