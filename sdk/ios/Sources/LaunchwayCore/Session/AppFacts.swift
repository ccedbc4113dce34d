// What the binary says about itself.

public struct AppFacts {
    let binary: Binary
    let bundleId: String
    let entryFile: String
    let fingerprint: String?
    let trustFile: [UInt8]?

    /// - Parameters:
    ///   - entryFile: the file that the framework starts with
    ///   - fingerprint: nil if the binary does not carry one
    ///   - trustFile: the bytes of `launchway.trust.json`; nil if the binary does not carry it
    public init(binary: Binary, bundleId: String, entryFile: String, fingerprint: String?, trustFile: [UInt8]?) {
        self.binary = binary
        self.bundleId = bundleId
        self.entryFile = entryFile
        self.fingerprint = fingerprint
        self.trustFile = trustFile
    }

    func settings(_ options: Options) -> Settings {
        var settings = Settings(
            serverUrl: options.serverUrl ?? "", bundleId: options.bundleId ?? bundleId, version: binary.name)
        settings.fingerprint = fingerprint
        settings.configuration = options.configuration
        settings.entryFile = options.entryFile ?? entryFile
        settings.keepSlots = options.keepSlots
        settings.wifiOnly = options.wifiOnly
        return settings
    }

    func trust(_ ports: Ports, _ options: Options) -> UpdateTrust.Opener {
        guard let trustFile = trustFile else {
            return { _ in TrustInTheServer() }
        }
        let builtAt = options.builtAt ?? binary.installedAt
        return SignedTrust.opener(ports, settings(options), trustFile: trustFile, builtAt: builtAt)
    }
}
