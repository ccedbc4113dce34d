// The result of a start.

struct Decision {
    /// What to remember. It is on disk before `attempt` is.
    let state: BootState
    /// What to hand over, to be on disk before it is.
    let attempt: Attempt
    /// What to hand over if state or attempt cannot be written: a trial never runs unrecorded.
    let unwritten: Content
    /// What to report.
    let events: [BootEvent]
    /// Whether a new store binary has made every slot void.
    let newBinary: Bool
}
