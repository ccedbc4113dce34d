// Something that happens during a run and matters to the next start.

enum Mark {
    /// The app came to the foreground.
    case foreground
    /// The app left the foreground.
    case background
    /// The app was in the foreground longer than it may be without confirmation.
    case hang
    /// The app has run for ten seconds.
    case settled
}
