// An update that the server offers.

struct Offer {
    /// The update's id.
    let id: String
    let version: String
    let buildNumber: String
    /// Where its package is, for a while.
    let url: String
    /// The digest of the package.
    let sha256: Sha256
    /// The bytes of the package.
    let size: Int
    /// The digest of its file list; nil where the server does not know it.
    let manifest: Sha256?
    /// Whether to install it at once.
    let mandatory: Bool
    let releaseNotes: String
}
