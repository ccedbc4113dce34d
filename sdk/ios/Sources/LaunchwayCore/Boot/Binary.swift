// Identifies a store binary. Every difference makes it another one.

public struct Binary: Equatable {
    /// The build number.
    public let code: String
    /// The version.
    public let name: String
    /// When it was installed, in milliseconds since 1970.
    public let installedAt: Int

    public init(code: String, name: String, installedAt: Int) {
        self.code = code
        self.name = name
        // A clock that was wrong at the installation must not produce a time that no file can hold.
        self.installedAt = max(0, min(installedAt, JsonValue.maxInteger))
    }

    public static func == (one: Binary, other: Binary) -> Bool {
        one.code.isExactly(other.code) && one.name.isExactly(other.name) && one.installedAt == other.installedAt
    }
}
