// The checks that every file of metadata passes before it is trusted.

enum MetadataChecks {
    /// Reads a file of this repository and app; of any without an identity.
    static func read<Body>(_ role: String, _ bytes: [UInt8], _ identity: Identity?) throws -> Metadata<Body> {
        let file: Metadata<Body>
        do {
            file = try Metadata(bytes)
        } catch {
            throw RoleError(role, .malformed, (error as? FormError)?.message ?? "cannot be read")
        }
        guard identity == nil || file.identity == identity else {
            throw RoleError(role, .otherRepositoryOrApp, "is for another repository or app")
        }
        return file
    }

    /// Reads a file that another one lists: its bytes, signatures and version must be as listed.
    static func readListed<Body>(
        _ role: String, _ bytes: [UInt8], _ identity: Identity?, listed: MetaFile, authority: Authority
    ) throws -> Metadata<Body> {
        guard listed.isOf(bytes) else {
            throw RoleError(role, .otherFile, "does not have the signed length or SHA-256")
        }
        let file: Metadata<Body> = try read(role, bytes, identity)
        try verify(role, authority, file)
        try expectVersion(role, listed.version, file)
        return file
    }

    /// Whether the trusted file is the one that is listed, and valid.
    static func isCurrent<Body>(_ file: Metadata<Body>?, _ listed: MetaFile, _ now: Int) -> Bool {
        guard let file = file else {
            return false
        }
        return !file.isExpired(now) && listed.isOf(file)
    }

    static func verify<Body>(_ role: String, _ authority: Authority, _ file: Metadata<Body>) throws {
        guard authority.verifies(file) else {
            let fault = "is signed by fewer than the \(authority.threshold) keys that must sign"
            throw RoleError(role, .tooFewSignatures, fault)
        }
    }

    static func expectVersion<Body>(_ role: String, _ expected: Int, _ file: Metadata<Body>) throws {
        guard file.version == expected else {
            throw RoleError(role, .otherVersion, "has version \(file.version) instead of \(expected)")
        }
    }

    static func expectNoRollback(_ role: String, trusted: Int, found: Int) throws {
        guard found >= trusted else {
            let fault = "has version \(found), below \(trusted), which was trusted before"
            throw RoleError(role, .rollback, fault)
        }
    }

    /// Checks that the role names no lower version of another file than the one that was trusted before.
    static func expectNoListedRollback(_ role: String, _ name: String, trusted: Int, found: Int) throws {
        guard found >= trusted else {
            let fault = "names version \(found) of `\(name)`, below \(trusted), which was trusted before"
            throw RoleError(role, .namesRollback, fault)
        }
    }

    static func expectValid<Body>(_ role: String, _ file: Metadata<Body>, _ now: Int) throws {
        guard !file.isExpired(now) else {
            throw RoleError(role, .expired, "expired at \(IsoTime.write(file.expires))")
        }
    }
}
