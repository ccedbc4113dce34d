// Why a package gave way or could not be used. The raw value is the name in vectors and reports.

enum BootReason: String {
    case crashed = "crashed"
    /// It was not confirmed in time.
    case hung = "hung"
    /// It died twice in the foreground without explanation.
    case diedTwice = "died_twice"
    /// It crashed early three times in a row after it was confirmed.
    case crashLoop = "crash_loop"
    /// Its developers revoked it.
    case revoked = "revoked"
    /// Its installation was not completed.
    case incomplete = "incomplete"
    /// The file that the app starts with is missing.
    case noEntryFile = "no_entry_file"
    /// A file does not have its hash.
    case damaged = "damaged"
}
