// The keys of a file by key id. Ids are opaque.

struct Keys {
    private let keys: TextMap<PublicKey>

    /// Reads the field `keys` of a root or of delegations.
    init(_ fields: Fields) throws {
        var keys = TextMap<PublicKey>()
        for (id, value) in try fields.object("keys").members.ordered {
            guard value.asObject != nil else {
                throw FormError.field("keys")
            }
            keys[id] = Self.publicKey(value)
        }
        self.keys = keys
    }

    /// The key of this id; nil if there is none, or it is of an unsupported type or form and never counts.
    subscript(id: String) -> PublicKey? {
        keys[id]
    }

    private static func publicKey(_ value: JsonValue) -> PublicKey? {
        guard let type = value["keytype"]?.asText, type.isExactly(PublicKey.keyType),
            let scheme = value["scheme"]?.asText, scheme.isExactly(PublicKey.scheme)
        else {
            return nil
        }
        return value["keyval"]?["public"]?.asText.flatMap(PublicKey.init(pem:))
    }
}
