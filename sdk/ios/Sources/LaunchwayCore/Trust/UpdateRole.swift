// The roles that sign updates: `c-<configuration>`, and `any` for every configuration (docs/reference/trust.md#roles).

enum UpdateRole {
    static let any = "any"

    private static let maxConfigurationLength = 64

    /// The name of a configuration's role.
    static func name(ofConfiguration configuration: String) -> String {
        "c-" + configuration
    }

    static func isConfiguration(_ text: String) -> Bool {
        let letters = text.utf8
        return !letters.isEmpty && letters.count <= maxConfigurationLength
            && letters.allSatisfy { Ascii.isAlphanumeric($0) || "._-".utf8.contains($0) }
    }

    /// The only paths that are delegated to the role.
    static func pathPattern(_ role: String) -> String {
        role + "/*/*"
    }

    /// The path of an update's target: the version without metadata, the build number without leading zeros.
    static func targetPath(_ role: String, _ platform: Platform, _ version: Version, _ build: Int) -> String {
        "\(role)/\(platform.rawValue)/\(version)_\(build).zip"
    }
}
