// What is installed and what runs.

struct Status {
    /// Everything that is remembered.
    let state: State
    /// The attempt that runs, or ran last; nil if none is known.
    let attempt: Attempt?
    /// How many reports wait.
    let reports: Int
}
