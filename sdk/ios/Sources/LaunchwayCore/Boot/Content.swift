// What an app can run: the files inside the store binary, or an installed package.

enum Content: Equatable, CustomStringConvertible {
    /// The files inside the store binary.
    case embedded
    /// An installed package, named by the SHA-256 of its bytes.
    case slot(Sha256)

    private static let embeddedName = "embedded"

    /// The content that the text names; nil for any other text.
    init?(_ text: String) {
        if text == Content.embeddedName {
            self = .embedded
        } else if let slot = Sha256(text) {
            self = .slot(slot)
        } else {
            return nil
        }
    }

    /// The installed package; nil for the embedded app.
    var slot: Sha256? {
        if case .slot(let slot) = self { return slot }
        return nil
    }

    var isEmbedded: Bool { self == .embedded }

    var description: String { slot?.hex ?? Content.embeddedName }
}
