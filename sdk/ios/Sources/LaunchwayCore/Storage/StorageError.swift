// The storage failed.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

enum StorageError: Error, Equatable {
    /// The system refused, with this `errno`.
    case failed(action: String, path: String, code: Int32)
    /// A path names something that is too long or no file, so that it cannot be what was written there.
    case unsuitable(path: String)

    /// Whether there is no room.
    var isFull: Bool {
        if case .failed(_, _, let code) = self {
            return code == ENOSPC || code == EDQUOT
        }
        return false
    }

    var message: String {
        switch self {
        case .failed(let action, let path, let code):
            return "cannot \(action) `\(path)`: \(String(cString: strerror(code)))"
        case .unsuitable(let path):
            return "`\(path)` is too long, or not a file"
        }
    }
}
