// Strict UTF-8.

enum Utf8 {
    static func encode(_ text: String) -> [UInt8] {
        Array(text.utf8)
    }

    /// The text of these bytes; nil if they are not UTF-8.
    static func decode(_ bytes: [UInt8]) -> String? {
        var decoder = UTF8()
        var input = bytes.makeIterator()
        while true {
            switch decoder.decode(&input) {
            case .scalarValue:
                continue
            case .emptyInput:
                return String(decoding: bytes, as: UTF8.self)
            case .error:
                return nil
            }
        }
    }
}
