// Follows a round. It is called on the round's own thread.

struct RoundListener {
    /// There is an update that may be installed.
    var found: (Offer) -> Void = { _ in }
    /// So many bytes of its package are there.
    var arrived: PackageDownload.Progress = { _ in }
    /// The package of the update was downloaded and installed.
    var installed: (Offer) -> Void = { _ in }
}
