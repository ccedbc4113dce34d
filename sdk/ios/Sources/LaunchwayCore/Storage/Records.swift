// What the state remembers of packages, reports, signed updates and failures.

/// An installed package.
struct SlotRecord: Equatable {
    /// The SHA-256 of its bytes, which names its folder.
    let id: Sha256
    /// The update that brought it.
    let updateId: String
    let version: String
    let buildNumber: String
    /// The digest of its file list.
    let manifest: Sha256
}

/// What the reports of an update are authenticated with.
struct ReportToken: Equatable {
    let updateId: String
    let token: String
}

/// Signed updates.
struct TrustRecord: Equatable {
    /// When metadata was last up to date, in milliseconds since 1970.
    let refreshedAt: Int
    /// The bytes of trusted metadata and the floors of roles, as JSON.
    let stored: String
}

/// An update that was rolled back or could not be installed.
struct FailedUpdate: Equatable {
    /// The update's id.
    let updateId: String
    let version: String
    let buildNumber: String
    /// The digest of its package.
    let sha256: Sha256
    /// A reason of the boot machine such as `crashed`, or the message of an error.
    let reason: String
}

extension FailedUpdate {
    /// The failure of an installed package.
    init(_ slot: SlotRecord, reason: String) {
        self.init(
            updateId: slot.updateId, version: slot.version, buildNumber: slot.buildNumber, sha256: slot.id, reason: reason)
    }
}
