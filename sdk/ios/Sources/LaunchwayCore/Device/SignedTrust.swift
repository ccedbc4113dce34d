// The trust of an app that carries a root: only what its developers signed is installed, whatever the server says.

struct SignedTrust: UpdateTrust {
    private static let trustFile = "launchway.trust.json"

    private let ports: Ports
    private let settings: Settings
    private let builtAt: Int
    /// A failure says why what the app carries is not valid: then nothing is taken.
    private let client: Result<TrustClient, Error>

    /// Opens the trust of an app that carries the bytes of `trustFile` and was built at `builtAt`, in milliseconds since
    /// 1970. An app whose trust file cannot be read takes and starts nothing.
    static func opener(_ ports: Ports, _ settings: Settings, trustFile: [UInt8], builtAt: Int) -> Opener {
        { record in SignedTrust(ports, settings, trustFile, builtAt, record) }
    }

    private init(_ ports: Ports, _ settings: Settings, _ trustFile: [UInt8], _ builtAt: Int, _ record: TrustRecord?) {
        self.ports = ports
        self.settings = settings
        self.builtAt = builtAt
        client = Result { try Self.open(settings, trustFile, record) }
    }

    private static func open(_ settings: Settings, _ trustFile: [UInt8], _ record: TrustRecord?) throws -> TrustClient {
        let embedded: TrustFile
        do {
            embedded = try TrustFile.parse(trustFile)
        } catch {
            throw RoleError(Self.trustFile, .malformed, errorMessage(error))
        }
        if let configuration = settings.configuration, !UpdateRole.isConfiguration(configuration) {
            throw RoleError("configuration", .malformed, "is not the name of a configuration")
        }
        // What cannot be read of what was stored is as if it were missing.
        let stored = record.flatMap { try? StoredTrust.parse($0.stored) }
        return try TrustClient(
            embedded: embedded, bundleId: settings.bundleId, configuration: settings.configuration, stored: stored)
    }

    func isRevoked(_ slot: Sha256) -> Bool {
        // Without a valid root there is no way to know: the embedded app runs.
        (try? client.get().revokedPackages.contains(slot)) ?? true
    }

    func refresh(_ open: OpenState, announced: AnnouncedVersions?, _ caches: Caches) throws {
        let client = try self.openClient()
        let now = self.now
        let refreshedAt = open.state.trust?.refreshedAt ?? 0
        let isBehind = client.isBehind(
            root: announced?.root ?? 0, snapshot: announced?.snapshot ?? 0, refreshedAt: refreshedAt, now: now)
        if !isBehind && caches == .used {
            return
        }
        let source = MetadataSource(ports.network, settings, caches)
        let renewed = Result {
            try source.renew(client.refresh(now: now)) { try keep(client, open, refreshedAt) }
        }
        // A run that is refused in the end may have learned floors.
        if case .success = renewed {
            try keep(client, open, now)
        } else {
            try keep(client, open, refreshedAt)
        }
        try refusing { try renewed.get() }
    }

    /// Stores what the client trusts, if that is new.
    private func keep(_ client: TrustClient, _ open: OpenState, _ refreshedAt: Int) throws {
        let record = TrustRecord(refreshedAt: refreshedAt, stored: client.storedTrust.toJson())
        let isNew = open.state.trust.map { $0.refreshedAt != refreshedAt || !$0.stored.isExactly(record.stored) } ?? true
        if isNew {
            try open.change { $0.trust = record }
        }
    }

    func permit(_ offer: Offer, over running: Running) throws -> Sha256? {
        let client = try openClient()
        return try refusing {
            guard let version = Version.parse(running.version) else {
                // Nothing is newer than a version that cannot be compared.
                throw OfferError.notNewer
            }
            let app = RunningApp(
                platform: settings.platform, fingerprint: settings.fingerprint, version: version, build: running.build)
            let offered = TrustOffer(
                platform: settings.platform, version: offer.version, buildNumber: offer.buildNumber, sha256: offer.sha256,
                length: offer.size)
            return try client.accept(offered, app: app, now: now).manifest
        }
    }

    private func openClient() throws -> TrustClient {
        try refusing { try client.get() }
    }

    private func refusing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let refusal as Refusal {
            throw TrustError.refused(refusal)
        }
    }

    private var now: Int {
        TrustClient.now(deviceClock: ports.clock.now, appBuiltAt: builtAt)
    }
}
