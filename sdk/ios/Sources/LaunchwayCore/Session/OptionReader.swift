// Reads options one by one. A missing one has its default; a wrong one is an error that says what is allowed.

struct OptionReader {
    /// What an app may change while it runs.
    static let configurable = Set(
        [
            "serverUrl", "bundleId", "configuration", "checkOn", "apply", "readyMode", "readyTimeoutMs", "wifiOnly",
            "keepSlots",
        ].map(ExactText.init))

    private static let maxAddress = 2048
    private static let maxBundleId = 155
    private static let maxConfiguration = 64
    private static let maxPath = 512

    let members: TextMap<JsonValue>

    /// The chosen word; the first one where nothing is chosen.
    func choice<Word: RawRepresentable & CaseIterable>(_ name: String) throws -> Word where Word.RawValue == String {
        let words = Array(Word.allCases)
        guard let text = try text(name) else {
            return words[0]
        }
        guard let word = words.first(where: { $0.rawValue.isExactly(text) }) else {
            let allowed = words.map(\.rawValue).joined(separator: ", ")
            throw FormError("\(name) must be one of [\(allowed)]")
        }
        return word
    }

    func number(_ name: String, otherwise: Int, min: Int, max: Int) throws -> Int {
        guard let value = members[name] else {
            return otherwise
        }
        guard let number = value.asInteger, number >= min, number <= max else {
            throw FormError("\(name) must be a whole number from \(min) to \(max)")
        }
        return number
    }

    func flag(_ name: String) throws -> Bool {
        guard let value = members[name] else {
            return false
        }
        guard let flag = value.asBool else {
            throw FormError("\(name) must be true or false")
        }
        return flag
    }

    func address(_ name: String) throws -> String? {
        guard let text = try text(name) else {
            return nil
        }
        let bytes = Array(text.utf8)
        let lower = text.lowercased().utf8
        let scheme = ["https://", "http://"].first { lower.starts(with: $0.utf8) }?.utf8.count ?? bytes.count
        let hasHost = scheme < bytes.count && bytes[scheme] != UInt8(ascii: "/") && text.utf16.count <= Self.maxAddress
        if !hasHost || !Self.isPrintable(text) || bytes.contains(UInt8(ascii: "?")) || bytes.contains(UInt8(ascii: "#")) {
            throw FormError("\(name) must be an address such as https://updates.example.com/api")
        }
        return text
    }

    func bundleId(_ name: String) throws -> String? {
        guard let text = try text(name) else {
            return nil
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.contains(where: \.isEmpty) || !Self.isLabel(text, Self.maxBundleId) {
            throw FormError("\(name) must be a bundle identifier such as com.example.app")
        }
        return text
    }

    func configuration(_ name: String) throws -> String? {
        let text = try text(name)
        if let text = text, !Self.isLabel(text, Self.maxConfiguration) {
            throw FormError("\(name) must be 1 to 64 letters, digits, `.`, `_` and `-`")
        }
        return text
    }

    func path(_ name: String) throws -> String? {
        guard let text = try text(name) else {
            return nil
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let climbs = parts.contains { $0.isEmpty || $0.elementsEqual("..".utf8) }
        if climbs || text.utf16.count > Self.maxPath || !Self.isPrintable(text) {
            throw FormError("\(name) must be the path of a file in the package")
        }
        return text
    }

    private func text(_ name: String) throws -> String? {
        guard let value = members[name] else {
            return nil
        }
        guard let text = value.asText else {
            throw FormError("\(name) must be a text")
        }
        return text
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 != 0x7f }
    }

    /// Letters, digits, `.`, `_` and `-` of ASCII.
    private static func isLabel(_ text: String, _ max: Int) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= max
            && bytes.allSatisfy { Ascii.isAlphanumeric($0) || "._-".utf8.contains($0) }
    }
}
