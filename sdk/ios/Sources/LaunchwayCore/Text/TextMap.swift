// Values by name. Names are equal only if their bytes are, and are in the order of their UTF-8 bytes, which is the order of
// the canonical form.

struct TextMap<Value> {
    private var values: [ExactText: Value]

    init() {
        values = [:]
    }

    private init(values: [ExactText: Value]) {
        self.values = values
    }

    subscript(name: String) -> Value? {
        get { values[ExactText(name)] }
        set { values[ExactText(name)] = newValue }
    }

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    /// The names in their order.
    var names: [String] { values.keys.sorted().map(\.text) }

    /// In the order of the names.
    var ordered: [(name: String, value: Value)] {
        values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }

    /// The same names with other values.
    func mapValues<Other>(_ transform: (Value) throws -> Other) rethrows -> TextMap<Other> {
        TextMap<Other>(values: try values.mapValues(transform))
    }
}

extension TextMap: Equatable where Value: Equatable {}

extension TextMap: ExpressibleByDictionaryLiteral {
    /// The last one counts of those that have the same name.
    init(dictionaryLiteral elements: (String, Value)...) {
        self.init()
        for (name, value) in elements {
            self[name] = value
        }
    }
}
