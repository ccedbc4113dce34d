// Metadata of one role is refused. What was trusted before stays trusted.

struct RoleError: Refusal {
    let role: String
    let reason: TrustReason
    let message: String

    /// `fault` says what is wrong with the role.
    init(_ role: String, _ reason: TrustReason, _ fault: String) {
        self.role = role
        self.reason = reason
        message = "\(role): \(fault)"
    }

    static func missing(_ role: String) -> RoleError {
        RoleError(role, .missing, "is missing")
    }

    static func notListed(_ role: String) -> RoleError {
        RoleError(role, .notListed, "is not listed in the snapshot")
    }

    var code: String { reason.rawValue }

    var mayPass: Bool {
        reason == .missing || reason == .rollback || reason == .namesRollback
    }
}
