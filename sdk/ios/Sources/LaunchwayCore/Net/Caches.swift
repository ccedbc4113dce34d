// Whether a cache on the way to the server may answer.

enum Caches {
    case used
    /// A cache has to ask the server.
    case bypassed
}
