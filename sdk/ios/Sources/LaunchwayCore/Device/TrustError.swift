// Why no update is taken: its developers did not sign it, or nobody can tell.

struct TrustError: MessageError {
    let message: String
    /// What was refused and why; nil if metadata was just out of reach.
    let refusal: Refusal?

    static func outOfReach(_ message: String) -> TrustError {
        TrustError(message: message, refusal: nil)
    }

    static func refused(_ refusal: Refusal) -> TrustError {
        TrustError(message: "\(refusal.code): \(refusal.message)", refusal: refusal)
    }

    /// Whether nodes of the server that differ for a moment may be the cause.
    var mayPass: Bool {
        refusal?.mayPass ?? false
    }
}
