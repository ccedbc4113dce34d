// The outcome of a round with the server.

enum SyncOutcome {
    /// There is no update.
    case nothing
    /// There is an update that needs a new store binary, for this reason.
    case storeUpdateRequired(reason: String)
    /// The next start tries the update.
    case staged(Offer)
    /// The update is installed, and waits until the app chooses it.
    case downloaded(Offer)
    /// What runs has these bytes already, and is this update from now on.
    case sameBytes(Offer)
    /// The offer failed before on this binary.
    case quarantined(Offer)
    /// The download waits for a connection that is not metered.
    case waitsForWifi(Offer)
}
