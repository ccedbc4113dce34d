// A JSON value, with whole numbers as the only numbers.

typealias JsonMembers = TextMap<JsonValue>

enum JsonValue: Equatable {
    case null
    case bool(Bool)
    /// Its magnitude is at most `maxInteger`.
    case integer(Int)
    case text(String)
    case array([JsonValue])
    case object(JsonMembers)

    /// The largest magnitude of an integer that every language represents exactly.
    static let maxInteger = (1 << 53) - 1

    /// An array of these texts.
    static func texts(_ items: [String]) -> JsonValue {
        .array(items.map(JsonValue.text))
    }

    var isNull: Bool { self == .null }

    var asBool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    var asInteger: Int? {
        if case .integer(let number) = self { return number }
        return nil
    }

    var asText: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    var asArray: [JsonValue]? {
        if case .array(let items) = self { return items }
        return nil
    }

    var asObject: JsonMembers? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// The member of this name; nil if there is none, or the value is not an object.
    subscript(name: String) -> JsonValue? {
        asObject?[name]
    }

    static func == (one: JsonValue, other: JsonValue) -> Bool {
        switch (one, other) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.integer(let left), .integer(let right)): return left == right
        case (.text(let left), .text(let right)): return left.isExactly(right)
        case (.array(let left), .array(let right)): return left == right
        case (.object(let left), .object(let right)): return left == right
        default: return false
        }
    }
}
