// A package, or a file list, breaks a rule (docs/reference/file-lists.md). It does so for ever.

struct PackageError: Error, Equatable {
    private static let maxShown = 120

    let message: String

    init(_ message: String) {
        self.message = message
    }

    /// `fault` follows the entry's name.
    static func entry(_ name: String, _ fault: String) -> PackageError {
        PackageError("the entry `\(visible(name))` \(fault)")
    }

    static func directory(_ fault: String) -> PackageError {
        PackageError("the directory of the ZIP archive is damaged: \(fault)")
    }

    /// Hostile names neither control a terminal nor fill a log.
    private static func visible(_ name: String) -> String {
        var shown = ""
        for character in name.unicodeScalars {
            if shown.utf8.count > maxShown {
                return shown + "…"
            }
            if character.value >= 0x20 && character.value <= 0x7e {
                shown.unicodeScalars.append(character)
            } else {
                shown += "\\u{" + String(character.value, radix: 16) + "}"
            }
        }
        return shown
    }
}
