// What runs, as the check reports it.

struct Running {
    let version: String
    let build: String
    /// An update's id, or `embedded:<build>`.
    let updateId: String

    /// Whether an offer is newer: a higher version, or the same with a higher build number.
    func isOlder(than offer: Offer) -> Bool {
        guard let current = Version.parse(version), let offered = Version.parse(offer.version) else {
            // The server has compared; a binary with a version of its own kind leaves it to the server.
            return true
        }
        if offered == current {
            return BuildNumber.parse(offer.buildNumber).map { BuildNumber.isNewer($0, than: build) } ?? false
        }
        return current < offered
    }
}
