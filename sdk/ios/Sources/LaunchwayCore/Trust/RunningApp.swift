// The app that asks, as it knows itself.

struct RunningApp {
    let platform: Platform
    /// The hash of its fingerprint; nil if it has none.
    let fingerprint: String?
    /// The version of the content that runs.
    let version: Version
    /// The build of the content that runs; nil if it has none.
    let build: String?
}
