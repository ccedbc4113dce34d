// The order in which the files of the top-level roles are fetched and taken (docs/reference/trust.md#the-client). Nothing here
// fetches: a workflow names the file that it needs, and its caller passes the bytes, or reports the file as missing.

struct Workflow {
    /// At most this many roots are taken in one run; the next run continues from there.
    private static let maxRoots = 256

    private enum Stage {
        case roots
        case timestamp
        case snapshot
        case targets
        case done
    }

    private let trusted: TrustedMetadata
    private let now: Int
    private var stage = Stage.roots
    private var rootsTaken = 0

    /// Begins a run. `now` decides what has expired, for the whole run.
    init(_ trusted: TrustedMetadata, now: Int) {
        self.trusted = trusted
        self.now = now
    }

    /// What to fetch next; nil when the top-level roles are current.
    mutating func nextRequest() throws -> FileRequest? {
        if stage == .roots {
            return .root(version: trusted.root.version + 1)
        }
        if stage == .timestamp {
            return .timestamp
        }
        if stage == .snapshot {
            if let version = try trusted.nextSnapshotVersion(now) {
                return .snapshot(version: version)
            }
            stage = .targets
        }
        if stage == .targets {
            if let version = try trusted.nextTargetsVersion(now) {
                return .targets(version: version)
            }
            stage = .done
        }
        return nil
    }

    /// Takes the file that was asked for. Returns whether it replaced the trusted one. If it is refused, the run is over;
    /// what was taken before stays trusted.
    mutating func take(_ bytes: [UInt8]) throws -> Bool {
        switch stage {
        case .roots:
            try trusted.updateRoot(bytes)
            rootsTaken += 1
            if rootsTaken == Self.maxRoots {
                try finishRoots()
            }
            return true
        case .timestamp:
            let isNewer = try trusted.updateTimestamp(bytes, now)
            stage = .snapshot
            return isNewer
        case .snapshot:
            try trusted.updateSnapshot(bytes, now)
            stage = .targets
            return true
        case .targets:
            try trusted.updateTargets(bytes, now)
            stage = .done
            return true
        case .done:
            return false
        }
    }

    /// The server does not have the file that was asked for, which is fine only for the next root.
    mutating func reportMissing(_ request: FileRequest) throws {
        guard stage == .roots else {
            throw RoleError.missing(request.role)
        }
        try finishRoots()
    }

    private mutating func finishRoots() throws {
        try trusted.finishRoots(now)
        stage = .timestamp
    }
}
