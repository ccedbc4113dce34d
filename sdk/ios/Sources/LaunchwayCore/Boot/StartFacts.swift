// What is known at a start.

struct StartFacts {
    /// The store binary that starts.
    let binary: Binary
    /// Whether the start shows a window.
    let window: Bool
    /// How the previous process ended.
    let ending: Ending
    let packages: PackageFacts
}

/// Answers questions about packages. They are asked only where the answer matters, because hashing takes time.
protocol PackageFacts {
    /// Whether a package is revoked.
    func isRevoked(_ slot: Sha256) -> Bool

    /// Whether a package can be handed over. `first` says that it starts for the first time. Throws if the storage cannot be
    /// read, so that nobody knows.
    func soundness(_ slot: Sha256, first: Bool) throws -> Soundness
}
