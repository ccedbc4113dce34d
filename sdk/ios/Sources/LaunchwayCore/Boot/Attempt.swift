// One start of the app and what became of it, as `boot.json` holds it.

struct Attempt: Equatable {
    /// Counts up with each start.
    let number: Int
    /// What was handed over.
    let content: Content
    /// Whether a window was shown.
    var window: Bool
    /// Whether the app was last seen in the foreground.
    var foreground: Bool
    /// Whether it ran for ten seconds.
    var settled = false
    /// Whether the crash handler ran.
    var crashed = false
    /// Whether the watchdog ran out.
    var hung = false

    init(number: Int, content: Content, window: Bool) {
        self.number = number
        self.content = content
        self.window = window
        foreground = window
    }

    /// The app came to the foreground, perhaps in a process that was started without a window.
    mutating func enterForeground() {
        window = true
        foreground = true
    }

    /// The app left the foreground: the content does not answer for a death after this.
    mutating func leaveForeground() {
        foreground = false
    }
}
