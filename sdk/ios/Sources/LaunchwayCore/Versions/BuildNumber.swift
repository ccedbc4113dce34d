// The build numbers of updates, and those of installed apps (docs/reference/updates.md#current-build).

enum BuildNumber {
    private static let maxDigits = 18
    private static let maxInstalledLength = 64

    /// The build number of an update, of 1 to 18 digits; nil for any other text.
    static func parse(_ text: String) -> Int? {
        text.utf8.count <= maxDigits && Version.isNumeral(text.utf8) ? Int(text) : nil
    }

    /// Whether an app can have this build: numerals, also dotted such as `1.0.3`.
    static func isInstalled(_ text: String) -> Bool {
        text.utf8.count <= maxInstalledLength && parts(text).allSatisfy(Version.isNumeral)
    }

    /// Whether `build` is above the installed one. Only its first part counts, since those of a plain number are 0.
    static func isNewer(_ build: Int, than installed: String) -> Bool {
        guard isInstalled(installed), let first = parts(installed).first else {
            return false
        }
        let digits = first.drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty else {
            return build > 0
        }
        // Digits that are too many exceed every build number.
        guard let number = parse(String(decoding: digits, as: UTF8.self)) else {
            return false
        }
        return build > number
    }

    private static func parts(_ text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }
}
