// Public keys: ECDSA on P-256, as PEM of a SubjectPublicKeyInfo (docs/reference/trust.md#keys).

struct PublicKey: Hashable {
    static let keyType = "ecdsa"
    static let scheme = "ecdsa-sha2-nistp256"

    private static let label = "PUBLIC KEY"
    /// What precedes the point in the DER of every P-256 key: algorithm, curve, and the header of the bit string.
    static let infoPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// An uncompressed point: `04`, X and Y.
    private static let pointLength = 65

    private let point: [UInt8]

    /// Reads PEM of a SubjectPublicKeyInfo; nil for any other form, algorithm or curve, and a compressed point. A point
    /// outside the curve is read, and verifies nothing.
    init?(pem: String) {
        guard let der = Pem.decode(pem, label: Self.label), der.count == Self.infoPrefix.count + Self.pointLength,
            der.starts(with: Self.infoPrefix), der[Self.infoPrefix.count] == 4
        else {
            return nil
        }
        point = Array(der.dropFirst(Self.infoPrefix.count))
    }

    /// The id under which Launchway lists the key: the SHA-256 of its canonical form. Readers treat ids as opaque.
    var id: String {
        let pem = Pem.encode(Self.infoPrefix + point, label: Self.label)
        let canonical = JsonWriter.canonical(
            .object([
                "keytype": .text(Self.keyType),
                "keyval": .object(["public": .text(pem)]),
                "scheme": .text(Self.scheme),
            ]))
        return Sha256.of(canonical).hex
    }

    /// Whether `signature`, in DER, is one of this key over `message`.
    func verifies(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
        SignatureForm.isValid(signature) && FieldElement.isOnCurve(point)
            && Ecdsa.verifies(message, signature, point: point)
    }
}
