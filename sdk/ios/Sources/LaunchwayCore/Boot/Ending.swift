// How the operating system says that the previous process ended. The raw value is the name in vectors.

public enum Ending: String {
    /// It does not say.
    case unexplained = "unexplained"
    /// By an uncaught error.
    case crash = "crash"
    /// By a crash of native code.
    case nativeCrash = "native_crash"
    /// Because it did not respond.
    case notResponding = "not_responding"
    /// Because it could not be initialized.
    case initializationFailure = "initialization_failure"
    /// By anything else: the user, memory pressure, an update of the binary, its own exit.
    case explained = "explained"

    var isCrash: Bool {
        self != .unexplained && self != .explained
    }
}
