// Whether an installed package can be handed over.

enum Soundness: Equatable {
    case sound
    /// `.complete` is missing.
    case incomplete
    /// The file that the app starts with is missing.
    case noEntryFile
    /// A file does not have its hash.
    case damaged

    /// Why the package cannot be handed over; nil if it can.
    var obstacle: BootReason? {
        switch self {
        case .sound: return nil
        case .incomplete: return .incomplete
        case .noEntryFile: return .noEntryFile
        case .damaged: return .damaged
        }
    }
}
