// What the check's answer says about the update that it offers. The server wrote it: nothing of it is trusted.

struct TrustOffer {
    let platform: Platform
    let version: String
    let buildNumber: String
    /// The hash of the package.
    let sha256: Sha256
    /// The length of the package in bytes.
    let length: Int
}
