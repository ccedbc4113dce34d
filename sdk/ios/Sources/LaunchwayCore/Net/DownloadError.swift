// Why a download stopped.

enum DownloadError: MessageError {
    /// The address has expired: the next check returns another one, and the download continues.
    case expired(status: Int)
    /// The server cannot be reached, or the connection broke.
    case network(Error)
    /// The server refuses for now.
    case status(Int)
    /// The server sends something else than the package.
    case wrong(String)
    /// There is too little room.
    case noSpace(needed: Int, free: Int)

    var message: String {
        switch self {
        case .expired(let status):
            return "the address has expired (the server responded with status \(status))"
        case .network(let cause):
            return "the download was interrupted: \(errorMessage(cause))"
        case .status(let status):
            return "the server responded with status \(status)"
        case .wrong(let reason):
            return "the server does not send the package: \(reason)"
        case .noSpace(let needed, let free):
            return "the package needs \(needed) bytes, and \(free) are free"
        }
    }
}
