// A round with the server ended early. Nothing that runs is changed.

enum SyncError: MessageError {
    /// Another process of the app decides.
    case notMain
    /// The app has not started since it was installed.
    case notStarted
    /// The state was corrupt and is set aside.
    case corrupt
    case storage(Error)
    /// The check failed.
    case check(CheckError)
    /// The app's developers did not sign this, or nobody can tell.
    case unverified(TrustError)
    case download(DownloadError)
    /// The package cannot be installed.
    case install(InstallError)

    /// The failure behind any error of a round. What no part of the client throws by itself comes from the storage.
    static func of(_ error: Error) -> SyncError {
        switch error {
        case let error as SyncError: return error
        case let error as CheckError: return .check(error)
        case let error as TrustError: return .unverified(error)
        case let error as DownloadError: return .download(error)
        case let error as InstallError: return .install(error)
        default: return .storage(error)
        }
    }

    var message: String {
        switch self {
        case .notMain: return "another process of this app runs the client"
        case .notStarted: return "the app has not started yet"
        case .corrupt: return "state.json is not valid; it was set aside, and the next start uses a new one"
        case .storage(let cause): return "the storage failed: \(errorMessage(cause))"
        case .check(let cause): return cause.message
        case .unverified(let cause): return "cannot verify updates: \(cause.message)"
        case .download(let cause): return cause.message
        case .install(let cause): return cause.message
        }
    }
}
