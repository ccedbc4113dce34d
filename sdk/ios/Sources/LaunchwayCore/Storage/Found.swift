// What is found of a state file: nothing, something that cannot be understood, or its content.

enum Found<Value> {
    case nothing
    case corrupt
    case whole(Value)

    /// The content; nil if there is none, or none that can be understood.
    var content: Value? {
        if case .whole(let content) = self { return content }
        return nil
    }

    var isCorrupt: Bool {
        if case .corrupt = self { return true }
        return false
    }
}
