// Reads an object member by member. Members that nobody asks for are ignored.

struct Fields {
    let members: TextMap<JsonValue>

    /// The members of an object. The error for every other value names `field`.
    init(_ value: JsonValue, _ field: String) throws {
        members = try Self.present(value.asObject, field)
    }

    func has(_ field: String) -> Bool {
        members[field] != nil
    }

    func value(_ field: String) throws -> JsonValue {
        try Self.present(members[field], field)
    }

    func text(_ field: String) throws -> String {
        try Self.present(members[field]?.asText, field)
    }

    /// The text, or nil where the field is missing.
    func optionalText(_ field: String) throws -> String? {
        has(field) ? try text(field) : nil
    }

    func bool(_ field: String) throws -> Bool {
        try Self.present(members[field]?.asBool, field)
    }

    /// An integer that is not negative.
    func count(_ field: String) throws -> Int {
        let number = try Self.present(members[field]?.asInteger, field)
        guard number >= 0 else {
            throw FormError.field(field)
        }
        return number
    }

    /// An integer above zero.
    func positive(_ field: String) throws -> Int {
        let number = try count(field)
        guard number > 0 else {
            throw FormError.field(field)
        }
        return number
    }

    func object(_ field: String) throws -> Fields {
        try Fields(value(field), field)
    }

    func array(_ field: String) throws -> [JsonValue] {
        try Self.present(members[field]?.asArray, field)
    }

    func texts(_ field: String) throws -> [String] {
        try array(field).map { try Self.present($0.asText, field) }
    }

    func digests(_ field: String) throws -> [Sha256] {
        try texts(field).map { try Self.present(Sha256($0), field) }
    }

    private static func present<Value>(_ value: Value?, _ field: String) throws -> Value {
        guard let value = value else {
            throw FormError.field(field)
        }
        return value
    }
}
