// Something is refused for a reason that a client logs and reports (docs/reference/trust.md#refusals).

protocol Refusal: Error {
    /// The name of the reason, the same in every language.
    var code: String { get }
    /// What is wrong.
    var message: String { get }
    /// Whether nodes of the server that differ for a moment may be the cause.
    var mayPass: Bool { get }
}
