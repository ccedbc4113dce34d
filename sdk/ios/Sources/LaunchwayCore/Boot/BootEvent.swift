// Something that a start or a confirmation has to report.

struct BootEvent: Equatable {
    /// The raw value is the name in vectors and reports.
    enum Kind: String {
        /// A package was handed over for the first time.
        case installed = "installed"
        /// A package proved itself.
        case confirmed = "confirmed"
        /// A package had to give way.
        case rolledBack = "rolled_back"
        /// A package could not be used.
        case failed = "failed"
        /// Content crashed.
        case crash = "crash"
    }

    let kind: Kind
    /// The content that the event is about.
    let content: Content
    /// Why it happened; nil where nothing needs an explanation.
    let reason: BootReason?
}
