// The members of an object, named by the exact code points of their names.

struct JsonMembers: Equatable, ExpressibleByDictionaryLiteral {
    private var values: [ExactText: JsonValue] = [:]

    init() {}

    /// No name may be there twice.
    init(dictionaryLiteral members: (String, JsonValue)...) {
        for (name, value) in members {
            values[ExactText(name)] = value
        }
    }

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    subscript(name: String) -> JsonValue? {
        get { values[ExactText(name)] }
        set { values[ExactText(name)] = newValue }
    }

    /// In the order of the names' UTF-8 bytes, which is the order of the canonical form.
    var ordered: [(name: String, value: JsonValue)] {
        values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}
