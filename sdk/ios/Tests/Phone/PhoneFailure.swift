// Why a command failed: the exit code (`docs/reference/command-line.md#exit-codes`), the message and a hint.

@testable import LaunchwayCore

struct PhoneFailure: Error {
    let exit: Int32
    let message: String
    /// What to do; nil if there is nothing to say.
    let hint: String?

    static func failed(_ message: String, hint: String? = nil) -> PhoneFailure {
        PhoneFailure(exit: 1, message: message, hint: hint)
    }

    static func usage(_ message: String, hint: String? = nil) -> PhoneFailure {
        PhoneFailure(exit: 2, message: message, hint: hint)
    }

    static func noPhone(_ directory: String) -> PhoneFailure {
        let hint = "run `init` to install an app, or name the directory of a phone with --dir"
        return PhoneFailure(exit: 3, message: "\(directory) is not a phone", hint: hint)
    }

    static func of(_ error: Error) -> PhoneFailure {
        switch error {
        case let failure as PhoneFailure:
            return failure
        case let error as SyncError where isOfServer(error):
            return PhoneFailure(
                exit: 6, message: error.message, hint: "check the address, and that the server is running")
        case SyncError.notStarted:
            return failed(errorMessage(error), hint: "run `start`")
        case let error as SyncError:
            return failed(error.message)
        default:
            return failed("cannot use the storage of the phone: \(errorMessage(error))")
        }
    }

    private static func isOfServer(_ error: SyncError) -> Bool {
        switch error {
        case .check(.network), .check(.status): return true
        case .unverified(let trust): return trust.refusal == nil
        case .download(.noSpace): return false
        case .download: return true
        default: return false
        }
    }
}
