// What was signed about an update beside the hash and length of its package (docs/reference/trust.md#targets).

struct SignedUpdate {
    let version: Version
    let build: Int
    /// The native app that it is for; nil: every one.
    let fingerprint: String?
    /// The digest of the list of files in the package.
    let manifest: Sha256

    /// Reads the field `custom` of a target.
    init(_ target: SignedTarget) throws {
        let fields = try Fields(target.custom ?? .null, "custom")
        guard let version = Version.parse(try fields.text("version")),
            let build = BuildNumber.parse(try fields.text("buildNumber")),
            let manifest = Sha256(try fields.text("manifest"))
        else {
            throw FormError.field("custom")
        }
        self.version = version
        self.build = build
        self.manifest = manifest
        fingerprint = try fields.optionalText("fingerprint")
    }
}
