// A top-level role. The raw value is its name in metadata.

enum TopLevel: String, CaseIterable {
    case root
    case timestamp
    case snapshot
    case targets
}
