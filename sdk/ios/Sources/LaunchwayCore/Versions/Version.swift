// Semantic versions, compared by precedence (docs/reference/updates.md#versions).

struct Version {
    private static let maxLength = 128
    private static let maxNumber = ArraySlice("18446744073709551615".utf8)
    private static let dot = UInt8(ascii: ".")

    /// Three numbers without leading zeros, as digits: they have up to 64 bits and no sign.
    private let numbers: [ArraySlice<UInt8>]
    /// The dotted identifiers after the hyphen; nil if there are none.
    private let preRelease: [ArraySlice<UInt8>]?

    /// Parses strict Semantic Versioning 2.0.0, and additionally `1` and `1.2`, which mean `1.0.0` and `1.2.0`; nil for
    /// anything else. Build metadata is checked, then dropped.
    static func parse(_ text: String) -> Version? {
        let letters = ArraySlice(text.utf8)
        guard letters.count <= maxLength else {
            return nil
        }
        // The metadata may contain hyphens and the pre-release no plus, so the plus is searched first.
        let (rest, metadata) = cut(letters, at: UInt8(ascii: "+"))
        let (core, preRelease) = cut(rest, at: UInt8(ascii: "-"))
        guard areIdentifiers(metadata), areIdentifiers(preRelease) else {
            return nil
        }
        guard preRelease?.allSatisfy({ !isNumeral($0) || isNumber($0) }) ?? true else {
            return nil
        }
        var numbers = core.split(separator: dot, omittingEmptySubsequences: false)
        let isShortened = numbers.count < 3
        guard numbers.count <= 3, !isShortened || (metadata == nil && preRelease == nil) else {
            return nil
        }
        guard numbers.allSatisfy({ isNumber($0) && !isBefore(maxNumber, $0) }) else {
            return nil
        }
        while numbers.count < 3 {
            numbers.append(ArraySlice("0".utf8))
        }
        return Version(numbers: numbers, preRelease: preRelease)
    }

    /// What is before the first separator, and the dotted parts behind it; nil without a separator.
    private static func cut(
        _ letters: ArraySlice<UInt8>, at separator: UInt8
    ) -> (ArraySlice<UInt8>, [ArraySlice<UInt8>]?) {
        guard let index = letters.firstIndex(of: separator) else {
            return (letters, nil)
        }
        let parts = letters[(index + 1)...].split(separator: dot, omittingEmptySubsequences: false)
        return (letters[..<index], parts)
    }

    private static func areIdentifiers(_ parts: [ArraySlice<UInt8>]?) -> Bool {
        (parts ?? []).allSatisfy { part in
            !part.isEmpty && part.allSatisfy { Ascii.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    /// Whether there are only ASCII digits, and at least one.
    static func isNumeral<Letters: Collection>(_ letters: Letters) -> Bool where Letters.Element == UInt8 {
        !letters.isEmpty && letters.allSatisfy(Ascii.isDigit)
    }

    private static func isNumber(_ letters: ArraySlice<UInt8>) -> Bool {
        isNumeral(letters) && (letters.count == 1 || letters.first != UInt8(ascii: "0"))
    }

    /// Numbers without leading zeros are in the order of their lengths, then of their digits.
    private static func isBefore(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
    }

    /// Item 11.4: numbers are before words, and words in the order of their letters.
    private static func isIdentifierBefore(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        switch (isNumeral(one), isNumeral(other)) {
        case (true, true): return isBefore(one, other)
        case (false, false): return one.lexicographicallyPrecedes(other)
        case (let isNumber, _): return isNumber
        }
    }
}

extension Version: Comparable {
    static func < (one: Version, other: Version) -> Bool {
        for (left, right) in zip(one.numbers, other.numbers) where left != right {
            return isBefore(left, right)
        }
        guard let left = one.preRelease, let right = other.preRelease else {
            return one.preRelease != nil && other.preRelease == nil
        }
        for (left, right) in zip(left, right) where left != right {
            return isIdentifierBefore(left, right)
        }
        return left.count < right.count
    }

    static func == (one: Version, other: Version) -> Bool {
        one.numbers == other.numbers && one.preRelease == other.preRelease
    }
}

extension Version: CustomStringConvertible {
    /// All three numbers and the pre-release: equal exactly for equal versions.
    var description: String {
        let core = numbers.joined(separator: [Self.dot])
        let tail = preRelease.map { [UInt8(ascii: "-")] + $0.joined(separator: [Self.dot]) } ?? []
        return String(decoding: core + tail, as: UTF8.self)
    }
}
