// Three spellings of a value: the canonical one, which is what is signed, plain ASCII JSON for files that people handle,
// and plain UTF-8 JSON, which is shorter.

struct JsonWriter {
    private enum Escapes {
        case canonical
        case ascii
        case demanded
    }

    private var out: [UInt8] = []
    private let escapes: Escapes

    private init(_ escapes: Escapes) {
        self.escapes = escapes
    }

    /// The canonical form of The Update Framework (OLPC): no white space, names in order, and in strings only `"` and `\`
    /// escaped; control characters appear verbatim. It differs from RFC 8785 in these escapes.
    static func canonical(_ value: JsonValue) -> [UInt8] {
        write(value, .canonical)
    }

    /// The value as JSON of ASCII characters only, without white space and with the names in order.
    static func ascii(_ value: JsonValue) -> String {
        String(decoding: write(value, .ascii), as: UTF8.self)
    }

    /// The value as JSON that escapes only what JSON demands, without white space and with the names in order.
    static func plain(_ value: JsonValue) -> String {
        String(decoding: write(value, .demanded), as: UTF8.self)
    }

    private static func write(_ value: JsonValue, _ escapes: Escapes) -> [UInt8] {
        var writer = JsonWriter(escapes)
        writer.value(value)
        return writer.out
    }

    private mutating func append(_ text: String) {
        out.append(contentsOf: text.utf8)
    }

    private mutating func value(_ value: JsonValue) {
        switch value {
        case .null:
            append("null")
        case .bool(let value):
            append(value ? "true" : "false")
        case .integer(let number):
            // A clock that is far off makes a wrong number, and no file that cannot be read back.
            append(String(max(-JsonValue.maxInteger, min(number, JsonValue.maxInteger))))
        case .text(let text):
            string(text)
        case .array(let items):
            array(items)
        case .object(let members):
            object(members)
        }
    }

    private mutating func array(_ items: [JsonValue]) {
        append("[")
        for (index, item) in items.enumerated() {
            append(index == 0 ? "" : ",")
            value(item)
        }
        append("]")
    }

    private mutating func object(_ members: TextMap<JsonValue>) {
        append("{")
        var separator = ""
        for member in members.ordered {
            append(separator)
            string(member.name)
            append(":")
            value(member.value)
            separator = ","
        }
        append("}")
    }

    private mutating func string(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            self.scalar(scalar)
        }
        append("\"")
    }

    private mutating func scalar(_ scalar: Unicode.Scalar) {
        if scalar == "\"" || scalar == "\\" {
            append("\\")
            append(String(scalar))
        } else if escapes == .canonical {
            append(String(scalar))
        } else if scalar == "\n" {
            append("\\n")
        } else if escapes == .demanded, scalar == "\r" || scalar == "\t" {
            append(scalar == "\r" ? "\\r" : "\\t")
        } else if scalar < " " || (escapes == .ascii && scalar > "~") {
            for unit in String(scalar).utf16 {
                append("\\u" + Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xff)]))
            }
        } else {
            append(String(scalar))
        }
    }
}
