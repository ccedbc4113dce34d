// A file of metadata to fetch.

enum FileRequest {
    /// The next root. That there is none is the usual answer.
    case root(version: Int)
    case timestamp
    case snapshot(version: Int)
    case targets(version: Int)
    /// A delegated role.
    case role(name: String, version: Int)

    /// The name of the role.
    var role: String {
        switch self {
        case .root: return "root"
        case .timestamp: return "timestamp"
        case .snapshot: return "snapshot"
        case .targets: return "targets"
        case .role(let name, _): return name
        }
    }

    /// The most bytes to read: longer files are refused, so more need not be fetched.
    var limit: Int {
        switch self {
        case .root: return Root.limit
        case .timestamp: return Timestamp.limit
        case .snapshot: return Snapshot.limit
        case .targets, .role: return Targets.limit
        }
    }

    /// The file's name in the repository, such as `3.root.json` or `timestamp.json`.
    var fileName: String {
        switch self {
        case .timestamp:
            return "timestamp.json"
        case .root(let version), .snapshot(let version), .targets(let version), .role(_, let version):
            return "\(version).\(role).json"
        }
    }
}
