// A check has no answer, or one that cannot be used.

enum CheckError: MessageError {
    /// The server cannot be reached.
    case network(Error)
    /// The server refuses for now, and does not want to be asked for so many seconds if it says so.
    case status(Int, retryAfter: Int?)
    /// The answer cannot be understood.
    case malformed(String)
    /// The offer is not newer than what runs.
    case notNewer(Offer)

    var message: String {
        switch self {
        case .network(let cause):
            return "the server cannot be reached: \(errorMessage(cause))"
        case .status(let status, _):
            return "the server responded with status \(status)"
        case .malformed(let reason):
            return "the server's response is not valid: \(reason)"
        case .notNewer(let offer):
            return "not-newer: the server offers \(offer.version) (\(offer.buildNumber)), which is not newer than the "
                + "running version"
        }
    }
}
