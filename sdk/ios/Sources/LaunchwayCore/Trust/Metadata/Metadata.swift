// A file of metadata as it was received: who signed it, and what it says (docs/reference/trust.md#metadata). Nothing in it is
// trusted before an `Authority` verified its signatures.

struct Metadata<Body: MetadataBody> {
    /// The file as it was received: this is what is stored and hashed.
    let bytes: [UInt8]
    /// Counts up with every change.
    let version: Int
    /// When the file expires, in milliseconds since 1970.
    let expires: Int
    /// The repository and app it belongs to; nil where it names none.
    let identity: Identity?
    /// What files of this type say.
    let body: Body
    /// The canonical form of `signed`, over which signatures are made.
    let message: [UInt8]
    /// The readable signatures by the key id that they name.
    let signatures: TextMap<[UInt8]>

    init(_ bytes: [UInt8]) throws {
        let file = try Fields(JsonReader.read(bytes, limit: Body.limit), "signed")
        signatures = try Self.readSignatures(file.array("signatures"))
        self.bytes = bytes
        let signed = try file.value("signed")
        // Written from everything that was parsed, unknown fields included, so that what is verified is what is used.
        message = JsonWriter.canonical(signed)
        let fields = try Fields(signed, "signed")
        guard try fields.text("_type").isExactly(Body.type) else {
            throw FormError.field("_type")
        }
        guard Self.isSpecVersion1(try fields.text("spec_version")) else {
            throw FormError.field("spec_version")
        }
        version = try fields.positive("version")
        guard let time = MetadataTime.parse(try fields.text("expires")) else {
            throw FormError.field("expires")
        }
        expires = time
        identity = try Identity.read(fields)
        body = try Body(signed: fields)
    }

    /// The file as a text. It is UTF-8, or it would not have been read.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    func isExpired(_ now: Int) -> Bool {
        expires <= now
    }

    /// Signatures that are not lower-case hexadecimal digits never count, and do not invalidate the file.
    private static func readSignatures(_ items: [JsonValue]) throws -> TextMap<[UInt8]> {
        var ids = Set<ExactText>()
        var signatures = TextMap<[UInt8]>()
        for item in items {
            let fields = try Fields(item, "signatures")
            let keyId = try fields.text("keyid")
            guard ids.insert(ExactText(keyId)).inserted else {
                throw FormError.field("signatures")
            }
            signatures[keyId] = Hex.decode(try fields.text("sig"))
        }
        return signatures
    }

    /// Whether the text is `1.` and numbers with dots between them.
    private static func isSpecVersion1(_ text: String) -> Bool {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1 && parts[0].elementsEqual("1".utf8) && parts.allSatisfy(Version.isNumeral)
    }
}
