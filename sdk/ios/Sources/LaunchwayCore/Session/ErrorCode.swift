// Why a call failed, as all packages of the SDK name it. The raw value is the name in every language.

public enum ErrorCode: String {
    /// The app does not say which server it asks.
    case notConfigured
    case invalidArgument
    /// Another process of the app decides.
    case notMain
    /// The client has not started.
    case notStarted
    case stateCorrupt
    case storage
    case noSpace
    /// The server is out of reach.
    case network
    /// The server responds with an error.
    case server
    case invalidAnswer
    /// The app's developers did not sign it. The message begins with the code of the refusal.
    case unverified
    case downloadFailed
    case badPackage
    case notFound
    /// The framework cannot switch while the app runs.
    case reloadUnsupported
    /// The SDK is switched off here.
    case unavailable
    case unknown
}
