// Who may sign for a role, and whether enough of them did (docs/reference/trust.md#thresholds).

struct Authority {
    let keys: Keys
    let role: RoleKeys

    /// How many distinct keys must sign.
    var threshold: Int { role.threshold }

    /// The distinct keys that may sign. Two ids of one key are one key.
    var signers: Set<PublicKey> {
        Set(role.keyIds.compactMap { keys[$0.text] })
    }

    /// Whether enough distinct keys of the role signed the file.
    func verifies<Body>(_ file: Metadata<Body>) -> Bool {
        var signers = Set<PublicKey>()
        for (id, signature) in file.signatures.ordered where role.keyIds.contains(ExactText(id)) {
            if let key = keys[id], !signers.contains(key), key.verifies(file.message, signature) {
                signers.insert(key)
            }
        }
        return signers.count >= threshold
    }
}
