// What a phone remembers of the developers' roles above The Update Framework: the lowest version that it takes, and the
// packages that were revoked (docs/reference/trust.md#floors).
//
// The framework forgets the versions of all roles with the server's keys, so that a server can recover. A server that was taken
// must not: whoever holds it would offer roles that the developers replaced.

struct Floors {
    /// Those that the app carries, which never fall.
    private let embedded: TextMap<Int>
    /// Those that this phone learned.
    private(set) var learned: TextMap<Floor>

    init(embedded: TextMap<Int>, learned: TextMap<Floor>) {
        self.embedded = embedded
        self.learned = learned
    }

    /// What a role revoked, as far as this phone knows.
    func revocations(of role: String) -> [Sha256] {
        learned[role]?.revoked ?? []
    }

    /// Forgets what a role revoked, because `targets` no longer delegates to it and nobody could take it back. The version is
    /// kept in case the role returns.
    mutating func forgetRevoked(_ role: String) {
        learned[role]?.revoked = []
    }

    /// The lowest version of a role that is taken when `authority` signs for it.
    ///
    /// A learned floor falls when fewer of the keys that it was learned under remain than must sign now: then the holders of
    /// the old keys alone can no longer sign anything, and the new holders need not know what those signed.
    private func lowest(_ role: String, _ authority: Authority) -> Int {
        let lowest = embedded[role] ?? 0
        guard let floor = learned[role] else {
            return lowest
        }
        let remaining = authority.signers.filter { floor.keys.contains(ExactText($0.id)) }.count
        return remaining >= authority.threshold ? max(lowest, floor.version) : lowest
    }

    /// Checks that this version of a role is at or above its floor.
    func check(_ role: String, _ authority: Authority, found: Int) throws {
        let floor = lowest(role, authority)
        guard found >= floor else {
            throw RoleError(role, .belowFloor, "has version \(found), below its floor \(floor)")
        }
    }

    /// Remembers a role whose file was just verified and is valid.
    mutating func learn(_ role: String, _ authority: Authority, _ file: Metadata<Targets>) {
        let keys = Set(authority.signers.map { ExactText($0.id) })
        learned[role] = Floor(version: file.version, keys: keys, revoked: file.body.revoked)
    }
}
