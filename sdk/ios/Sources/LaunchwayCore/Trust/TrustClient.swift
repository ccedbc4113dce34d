// A phone's view of its app's repository: what is trusted, what is remembered, and which offers may be installed
// (docs/reference/trust.md#the-client).

final class TrustClient {
    private static let day = 24 * 60 * 60 * 1000

    let trusted: TrustedMetadata
    /// The roles that sign for this app, in the order in which they are asked.
    let roles: [String]

    private let repository: String
    private var floors: Floors
    private let embeddedRevoked: Set<Sha256>
    /// The hash of the `signed` of each root that was trusted, by version, since the one that the app carries.
    private var lineage: [Int: Sha256]

    /// Opens what the app carries and what this phone stored before. The stored root is used only if the stored chain
    /// contains the root that the app carries. Floors are kept as long as the repository is the same.
    ///
    /// - Parameters:
    ///   - configuration: the app's configuration; nil if it has none
    ///   - stored: nil if nothing is stored, or it cannot be read
    /// - Throws: `RoleError` if the root that the app carries is not valid, or of another repository or app
    init(embedded: TrustFile, bundleId: String, configuration: String?, stored: StoredTrust?) throws {
        let identity = Identity(repository: embedded.repository, bundleId: bundleId)
        var trusted = try TrustedMetadata(root: Utf8.encode(embedded.root), identity: identity)
        var lineage: [Int: Sha256] = [:]
        let kept = stored.flatMap { $0.repository.isExactly(embedded.repository) ? $0 : nil }
        if let kept = kept, kept.lineage[trusted.root.version] == Self.hash(of: trusted),
            let newer = try? TrustedMetadata(root: Utf8.encode(kept.root), identity: identity)
        {
            trusted = newer
            lineage = kept.lineage
        }
        lineage[trusted.root.version] = Self.hash(of: trusted)
        if let kept = kept {
            trusted.restore(
                timestamp: kept.timestamp, snapshot: kept.snapshot, targets: kept.targets, roles: kept.roles)
        }
        self.trusted = trusted
        self.lineage = lineage
        repository = embedded.repository
        roles = configuration.map { [UpdateRole.name(ofConfiguration: $0), UpdateRole.any] } ?? [UpdateRole.any]
        floors = Floors(embedded: embedded.floors, learned: kept?.floors ?? TextMap())
        embeddedRevoked = embedded.revoked
    }

    /// The time that decides what has expired: a clock may be wrong, but the app was not built in the future.
    static func now(deviceClock: Int, appBuiltAt: Int) -> Int {
        max(deviceClock, appBuiltAt)
    }

    /// Signatures may be added to a root later, so they are not part of its hash.
    private static func hash(of trusted: TrustedMetadata) -> Sha256 {
        Sha256.of(trusted.root.message)
    }

    /// What to store on the phone and to open at the next start.
    var storedTrust: StoredTrust {
        StoredTrust(trusted, repository: repository, floors: floors.learned, lineage: lineage)
    }

    /// Starts a run that renews the metadata, at the time that `now` returns.
    func refresh(now: Int) -> Refresh {
        Refresh(self, now: now)
    }

    /// The packages that this phone never starts: those that the app carries, and those that the app's roles revoked. They
    /// hold even after all metadata has expired.
    var revokedPackages: Set<Sha256> {
        roles.reduce(embeddedRevoked) { $0.union(floors.revocations(of: $1)) }
    }

    /// Whether to fetch metadata, after a check that names the server's versions of root and snapshot: when one is newer than
    /// the trusted one, and once a day, so that a server which withholds everything is noticed.
    func isBehind(root: Int, snapshot: Int, refreshedAt: Int, now: Int) -> Bool {
        // After a clock was set back, the age of the last refresh is unknown.
        let (age, overflow) = now.subtractingReportingOverflow(refreshedAt)
        let isStale = overflow || age < 0 || age >= Self.day
        return isStale || root > rootVersion || snapshot > snapshotVersion
    }

    var rootVersion: Int { trusted.root.version }

    /// The version of the trusted snapshot; 0 before there is one.
    var snapshotVersion: Int { trusted.snapshot?.version ?? 0 }
}

// What a `Refresh` checks and remembers.
extension TrustClient {
    /// Checks the form of the delegation and the role's floor, then returns whether the role has to be fetched.
    func delegatedState(_ name: String, _ now: Int) throws -> RoleState {
        guard let delegation = trusted.delegation(name) else {
            return .notDelegated
        }
        guard delegation.paths == [ExactText(UpdateRole.pathPattern(name))] else {
            throw RoleError(name, .otherPaths, "has a delegation for paths that are not its own")
        }
        let state = try trusted.roleState(delegation, now)
        var listed = trusted.roles[name]?.version ?? 0
        if case .wanted(let version) = state {
            listed = version
        }
        try floors.check(name, delegation.authority, found: listed)
        return state
    }

    func checkFloorOfTargets(_ version: Int) throws {
        try floors.check("targets", trusted.authority(.targets), found: version)
    }

    func learnRoot() {
        lineage[trusted.root.version] = Self.hash(of: trusted)
    }

    func learnTargets() {
        if let targets = trusted.targets {
            floors.learn("targets", trusted.authority(.targets), targets)
        }
    }

    func learnRole(_ name: String) {
        if let delegation = trusted.delegation(name), let file = trusted.roles[name] {
            floors.learn(name, delegation.authority, file)
        }
    }

    func forgetRevoked(_ name: String) {
        floors.forgetRevoked(name)
    }
}
