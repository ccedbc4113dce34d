// The metadata that is trusted, and the rules by which newer metadata takes its place: sections 5.3 to 5.6 of the
// specification of The Update Framework. Every file is refused as a whole or replaces the one before; floors and revocations
// are the client's.

final class TrustedMetadata {
    /// Nil only for repositories of other systems.
    private let identity: Identity?
    private(set) var root: Metadata<Root>
    /// Nil before there is one. So are the next two.
    private(set) var timestamp: Metadata<Timestamp>?
    private(set) var snapshot: Metadata<Snapshot>?
    private(set) var targets: Metadata<Targets>?
    /// The files of delegated roles. Use one only if `roleState` is current.
    private(set) var roles = TextMap<Metadata<Targets>>()

    /// Starts from a root that is trusted because of its origin: the app, or this phone's storage. It must be signed by its
    /// own keys, and may have expired.
    init(root bytes: [UInt8], identity: Identity?) throws {
        self.identity = identity
        root = try MetadataChecks.read("root", bytes, identity)
        try MetadataChecks.verify("root", root.body.authority(.root), root)
    }

    /// Restores files that this phone stored. Files that do not verify are dropped.
    func restore(timestamp: String?, snapshot: String?, targets: String?, roles: TextMap<String>) {
        self.timestamp = readStored("timestamp", timestamp)
        self.snapshot = readStored("snapshot", snapshot)
        self.targets = readStored("targets", targets)
        self.roles = TextMap()
        for (name, text) in roles.ordered {
            self.roles[name] = readStored(name, text)
        }
        dropUnsigned()
    }

    private func readStored<Body>(_ role: String, _ text: String?) -> Metadata<Body>? {
        text.flatMap { try? MetadataChecks.read(role, Utf8.encode($0), identity) }
    }

    func authority(_ role: TopLevel) -> Authority {
        root.body.authority(role)
    }

    /// The delegation of the trusted targets to a role; nil if there is none.
    func delegation(_ name: String) -> Delegation? {
        targets?.body.delegation(name)
    }

    private func dropUnsigned() {
        timestamp = signed(timestamp, .timestamp)
        snapshot = signed(snapshot, .snapshot)
        targets = signed(targets, .targets)
    }

    private func signed<Body>(_ file: Metadata<Body>?, _ role: TopLevel) -> Metadata<Body>? {
        file.flatMap { authority(role).verifies($0) ? $0 : nil }
    }

    private func listedSnapshot() throws -> MetaFile {
        guard let timestamp = timestamp else {
            throw RoleError.missing("timestamp")
        }
        return timestamp.body.snapshot
    }

    private func listedFile(_ role: String) throws -> MetaFile {
        guard let snapshot = snapshot else {
            throw RoleError.missing("snapshot")
        }
        guard let listed = snapshot.body.role(role) else {
            throw RoleError.notListed(role)
        }
        return listed
    }

    /// Checks that the trusted files, from the root to targets, belong together and are valid now. Returns targets.
    @discardableResult
    func checkCurrent(_ now: Int) throws -> Metadata<Targets> {
        try MetadataChecks.expectValid("root", root, now)
        guard let timestamp = timestamp else {
            throw RoleError.missing("timestamp")
        }
        try MetadataChecks.expectValid("timestamp", timestamp, now)
        guard let snapshot = snapshot else {
            throw RoleError.missing("snapshot")
        }
        try MetadataChecks.expectVersion("snapshot", timestamp.body.snapshot.version, snapshot)
        try MetadataChecks.expectValid("snapshot", snapshot, now)
        guard let targets = targets else {
            throw RoleError.missing("targets")
        }
        try MetadataChecks.expectVersion("targets", listedFile("targets").version, targets)
        try MetadataChecks.expectValid("targets", targets, now)
        return targets
    }
}

// How newer files take the place of the trusted ones.
extension TrustedMetadata {
    /// Takes the next root of the chain, signed by the keys of the present one and by its own.
    func updateRoot(_ bytes: [UInt8]) throws {
        let next: Metadata<Root> = try MetadataChecks.read("root", bytes, identity)
        try MetadataChecks.verify("root", authority(.root), next)
        try MetadataChecks.verify("root", next.body.authority(.root), next)
        try MetadataChecks.expectVersion("root", root.version + 1, next)
        root = next
    }

    /// Ends the chain of roots: drops files that the keys of the last root did not sign, so that new online keys reset the
    /// versions of snapshot and timestamp, and checks that the last root is valid.
    func finishRoots(_ now: Int) throws {
        dropUnsigned()
        try MetadataChecks.expectValid("root", root, now)
    }

    /// Takes a timestamp. Returns whether it replaced the trusted one.
    func updateTimestamp(_ bytes: [UInt8], _ now: Int) throws -> Bool {
        let next: Metadata<Timestamp> = try MetadataChecks.read("timestamp", bytes, identity)
        try MetadataChecks.verify("timestamp", authority(.timestamp), next)
        if let trusted = timestamp {
            try MetadataChecks.expectNoRollback("timestamp", trusted: trusted.version, found: next.version)
            if next.version == trusted.version {
                try MetadataChecks.expectValid("timestamp", trusted, now)
                return false
            }
            let (before, after) = (trusted.body.snapshot.version, next.body.snapshot.version)
            try MetadataChecks.expectNoListedRollback("timestamp", "snapshot.json", trusted: before, found: after)
        }
        try MetadataChecks.expectValid("timestamp", next, now)
        timestamp = next
        return true
    }

    /// The version of the snapshot to fetch; nil when the trusted one is current.
    func nextSnapshotVersion(_ now: Int) throws -> Int? {
        let listed = try listedSnapshot()
        return MetadataChecks.isCurrent(snapshot, listed, now) ? nil : listed.version
    }

    /// Takes the snapshot that the timestamp names. It lists all that the trusted one lists, nothing at a lower version.
    func updateSnapshot(_ bytes: [UInt8], _ now: Int) throws {
        let next: Metadata<Snapshot> = try MetadataChecks.readListed(
            "snapshot", bytes, identity, listed: listedSnapshot(), authority: authority(.snapshot))
        if let trusted = snapshot {
            try MetadataChecks.expectNoRollback("snapshot", trusted: trusted.version, found: next.version)
            for (name, before) in trusted.body.files.ordered {
                guard let after = next.body.files[name] else {
                    throw RoleError("snapshot", .noLongerLists, "no longer lists `\(name)`")
                }
                try MetadataChecks.expectNoListedRollback(
                    "snapshot", name, trusted: before.version, found: after.version)
            }
        }
        try MetadataChecks.expectValid("snapshot", next, now)
        snapshot = next
    }

    /// The version of targets to fetch; nil when the trusted file is current.
    func nextTargetsVersion(_ now: Int) throws -> Int? {
        let listed = try listedFile("targets")
        return MetadataChecks.isCurrent(targets, listed, now) ? nil : listed.version
    }

    /// Takes the targets that the snapshot lists.
    func updateTargets(_ bytes: [UInt8], _ now: Int) throws {
        let next: Metadata<Targets> = try MetadataChecks.readListed(
            "targets", bytes, identity, listed: listedFile("targets"), authority: authority(.targets))
        try MetadataChecks.expectValid("targets", next, now)
        targets = next
    }

    /// Whether the trusted file of the role is current and signed by the keys that the delegation names. Signatures of keys
    /// that were named before do not count.
    func roleState(_ delegation: Delegation?, _ now: Int) throws -> RoleState {
        guard let delegation = delegation else {
            return .notDelegated
        }
        let listed = try listedFile(delegation.name)
        let trusted = roles[delegation.name].flatMap { delegation.authority.verifies($0) ? $0 : nil }
        return MetadataChecks.isCurrent(trusted, listed, now) ? .current : .wanted(version: listed.version)
    }

    /// Takes the file of a role that is delegated to.
    func updateRole(_ delegation: Delegation, _ bytes: [UInt8], _ now: Int) throws {
        let name = delegation.name
        let next: Metadata<Targets> = try MetadataChecks.readListed(
            name, bytes, identity, listed: listedFile(name), authority: delegation.authority)
        try MetadataChecks.expectValid(name, next, now)
        roles[name] = next
    }
}
