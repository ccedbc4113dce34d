// What the platform knows at a start.

struct Launch {
    /// The store binary.
    let binary: Binary
    /// Whether a window is shown.
    let window: Bool
    /// How the previous process ended.
    let ending: Ending
    /// Where the previous process crashed; nil where that is not known.
    var stack: String?
}
