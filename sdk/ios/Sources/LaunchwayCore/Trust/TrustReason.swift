// What is wrong with metadata (docs/reference/trust.md#refusals). The raw value names it in a client's log and report, the same
// in every language.

enum TrustReason: String {
    case malformed
    case tooFewSignatures = "too-few-signatures"
    case otherFile = "other-file"
    case otherRepositoryOrApp = "other-repository-or-app"
    case otherVersion = "other-version"
    case rollback
    case namesRollback = "names-rollback"
    case noLongerLists = "no-longer-lists"
    case notListed = "not-listed"
    case belowFloor = "below-floor"
    case expired
    case missing
    case otherPaths = "other-paths"
    case otherContent = "other-content"
}
