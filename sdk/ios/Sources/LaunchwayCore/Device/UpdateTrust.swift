// Decides which packages may be installed and started (`docs/reference/sdk.md#trust`).

protocol UpdateTrust {
    /// Opens what the app carries and what this device has stored; the record is nil before the first fetch.
    typealias Opener = (_ record: TrustRecord?) -> UpdateTrust

    /// Whether a package is never started, whatever the network or the clock says.
    func isRevoked(_ slot: Sha256) -> Bool

    /// Fetches metadata if that is due. What is learned is stored in `open` step by step, so that a later lie of the server
    /// is noticed. `announced` is what the server says that it has; nil if it does not. Throws `TrustError`.
    func refresh(_ open: OpenState, announced: AnnouncedVersions?, _ caches: Caches) throws

    /// The digest that the offer's file list must have, or nil if none is known, if the offer may be installed. Throws
    /// `TrustError` if it may not.
    func permit(_ offer: Offer, over running: Running) throws -> Sha256?
}

/// The trust of an app without a root: the server's word counts.
struct TrustInTheServer: UpdateTrust {
    func isRevoked(_ slot: Sha256) -> Bool {
        false
    }

    func refresh(_ open: OpenState, announced: AnnouncedVersions?, _ caches: Caches) {}

    func permit(_ offer: Offer, over running: Running) -> Sha256? {
        offer.manifest
    }
}
