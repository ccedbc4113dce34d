// Which repository and app metadata is of: the field `x-launchway` (docs/reference/trust.md#repository-and-app).

struct Identity: Equatable {
    private static let field = "x-launchway"
    private static let repositoryDigits = 32
    private static let maxBundleIdLength = 155

    /// 128 bits as 32 lower-case hexadecimal digits.
    let repository: String
    /// The app. Letter case makes no difference.
    let bundleId: String

    init(repository: String, bundleId: String) {
        self.repository = repository
        self.bundleId = bundleId
    }

    static func isRepositoryId(_ text: String) -> Bool {
        text.utf8.count == repositoryDigits && Hex.decode(text) != nil
    }

    /// The identity that a `signed` names; nil where it names none.
    static func read(_ signed: Fields) throws -> Identity? {
        guard signed.has(field) else {
            return nil
        }
        let value = try signed.value(field)
        guard let repository = value["repository"]?.asText, isRepositoryId(repository),
            let bundleId = value["bundleId"]?.asText, isBundleId(bundleId)
        else {
            throw FormError.field(field)
        }
        return Identity(repository: repository, bundleId: bundleId)
    }

    /// Parts of ASCII letters, digits, `_` and `-` with dots between them.
    private static func isBundleId(_ text: String) -> Bool {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= maxBundleIdLength
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { Ascii.isAlphanumeric($0) || "_-".utf8.contains($0) }
            }
    }

    static func == (one: Identity, other: Identity) -> Bool {
        one.repository.isExactly(other.repository)
            && one.bundleId.utf8.map(Ascii.lowercased) == other.bundleId.utf8.map(Ascii.lowercased)
    }
}
