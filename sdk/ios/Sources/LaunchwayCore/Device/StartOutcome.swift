// What a start hands over.

struct StartOutcome {
    /// What runs.
    let content: Content
    /// Why the embedded app runs although nobody decided so; nil if somebody did.
    let problem: String?
    /// Whether this start is the attempt in `boot.json`. What happens during another one is not noted.
    let isRecorded: Bool
    /// What ran before; nil if that is not known.
    let previous: Content?
    /// What the start changed: an update runs for the first time, or one gave way.
    let events: [BootEvent]

    /// A start that is recorded. `previous` is nil if no attempt was known.
    init(_ decision: Decision, after previous: Attempt?) {
        content = decision.attempt.content
        problem = nil
        isRecorded = true
        self.previous = previous?.content
        events = decision.events
    }

    /// A start that is not recorded.
    init(_ content: Content, problem: String? = nil) {
        self.content = content
        self.problem = problem
        isRecorded = false
        previous = nil
        events = []
    }

    static func fallback(_ problem: String) -> StartOutcome {
        StartOutcome(.embedded, problem: problem)
    }

    /// The folder with its files, below the client's own; nil is the embedded app.
    var folder: String? {
        content.slot.map { Slots.content($0) }
    }
}
