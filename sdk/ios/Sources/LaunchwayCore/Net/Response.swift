// The response of a server.

final class Response {
    private static let chunk = 8 << 10
    /// The longest that a server can postpone the next request, in seconds.
    private static let maxRetryAfter = 3600
    /// Digits that are too many for a number to be read say the same as the longest postponement.
    private static let maxDigits = 18

    let status: Int
    /// The body, read as it arrives.
    let body: ResponseBody

    private let headers: [(name: String, value: String)]

    init(status: Int, headers: [(name: String, value: String)], body: ResponseBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of a header field, whatever the case of its name. Nil for one that is missing or occurs twice.
    func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        let found = headers.filter { $0.name.lowercased() == wanted }
        return found.count == 1 ? trimmed(found[0].value) : nil
    }

    private func trimmed(_ value: String) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(value.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    /// `Retry-After` in seconds, at most an hour; nil if the server does not say.
    var retryAfter: Int? {
        guard let value = header("retry-after"), !value.isEmpty, value.utf8.count <= Self.maxDigits else {
            return nil
        }
        let isNumber = value.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return isNumber ? Int(value).map { min($0, Self.maxRetryAfter) } : nil
    }

    /// The body, up to one byte more than allowed, so that a longer one is noticed.
    func readBody(max: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= max {
            let next = try body.read(max: min(Self.chunk, max + 1 - bytes.count))
            if next.isEmpty {
                break
            }
            bytes += next
        }
        return bytes
    }

    func close() {
        body.close()
    }
}
