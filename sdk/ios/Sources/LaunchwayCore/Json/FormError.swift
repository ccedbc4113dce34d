// A text or JSON value is not of the expected form.

struct FormError: Error, Equatable {
    let message: String
    /// Why a text is not the JSON that is accepted here; nil where it is JSON.
    let json: JsonFault?

    init(_ message: String) {
        self.message = message
        json = nil
    }

    init(_ fault: JsonFault) {
        message = fault.message
        json = fault
    }

    /// A field is missing or not of its form.
    static func field(_ name: String) -> FormError {
        FormError("has no valid `\(name)`")
    }
}

/// Why a text is not the JSON that is accepted here. The raw value is the name in the vectors.
enum JsonFault: String {
    case tooLarge = "too-large"
    case encoding = "encoding"
    case syntax = "syntax"
    case depth = "depth"
    case duplicateName = "duplicate-name"
    case number = "number"
    case surrogate = "surrogate"

    var message: String {
        switch self {
        case .tooLarge: return "is too long"
        case .encoding: return "is not UTF-8"
        case .syntax: return "is not JSON"
        case .depth: return "nests too deep"
        case .duplicateName: return "has a name twice"
        case .number: return "has a number other than an integer below 2^53"
        case .surrogate: return "has half of a surrogate pair"
        }
    }
}
