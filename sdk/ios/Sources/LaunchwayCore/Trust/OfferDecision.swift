// Whether an update that the check offers may be installed (docs/reference/trust.md#offers).

extension TrustClient {
    /// Decides about an offer, and returns what was signed about it. The role of the app's configuration is asked first, and
    /// if it signed an update of this version and build, `any` is not asked.
    ///
    /// - Throws: `RoleError` if what is trusted is not valid now, `OfferError` if the update is not to be installed
    func accept(_ offer: TrustOffer, app: RunningApp, now: Int) throws -> SignedUpdate {
        guard let version = Version.parse(offer.version), let build = BuildNumber.parse(offer.buildNumber) else {
            throw OfferError.malformedAnswer
        }
        guard offer.platform == app.platform else {
            throw OfferError.otherPlatform
        }
        for role in roles {
            let path = UpdateRole.targetPath(role, offer.platform, version, build)
            if let target = try currentRole(role, now)?.body.targets[path] {
                guard let signed = try? SignedUpdate(target), signed.version == version, signed.build == build,
                    target.sha256 == offer.sha256, target.length == offer.length
                else {
                    throw OfferError.otherPackage
                }
                try check(offer.sha256, signed, app)
                return signed
            }
        }
        throw OfferError.notSigned(version, build: build)
    }

    /// Checks that a signed update is for this app, now.
    private func check(_ sha256: Sha256, _ signed: SignedUpdate, _ app: RunningApp) throws {
        guard !revokedPackages.contains(sha256) else {
            throw OfferError.revoked
        }
        // Stricter than the server's decision: an app without a fingerprint does not know that it fits.
        if let fingerprint = signed.fingerprint {
            guard app.fingerprint?.isExactly(fingerprint) ?? false else {
                throw OfferError.otherFingerprint
            }
        }
        let isNewerBuild = app.build.map { BuildNumber.isNewer(signed.build, than: $0) } ?? false
        guard signed.version > app.version || (signed.version == app.version && isNewerBuild) else {
            throw OfferError.notNewer
        }
    }

    /// The role's file if it is delegated to and everything down to it is valid now; nil if it is not delegated to.
    private func currentRole(_ name: String, _ now: Int) throws -> Metadata<Targets>? {
        let targets = try trusted.checkCurrent(now)
        try checkFloorOfTargets(targets.version)
        let file = trusted.roles[name]
        switch try delegatedState(name, now) {
        case .notDelegated:
            return nil
        case .current:
            return file
        case .wanted(let version):
            if let file = file, file.version == version {
                try MetadataChecks.expectValid(name, file, now)
            }
            throw RoleError.missing(name)
        }
    }
}
