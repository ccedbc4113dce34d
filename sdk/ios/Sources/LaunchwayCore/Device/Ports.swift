// The platform that a client runs on.

struct Ports {
    /// The client's own folder.
    let storage: Storage
    let network: Network
    let clock: Clock
    /// So many random bytes.
    let random: (_ count: Int) -> [UInt8]
}

/// Tells the time.
protocol Clock {
    /// Milliseconds since 1970.
    var now: Int { get }

    /// Waits. Tests do not.
    func pause(_ milliseconds: Int)
}
