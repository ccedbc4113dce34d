// A call failed, with a code for programs and a message for people.

import Foundation

public struct LaunchwayError: Error, LocalizedError {
    public let code: ErrorCode
    public let message: String

    public init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    public var errorDescription: String? { message }

    static let notMain = LaunchwayError(.notMain, SyncError.notMain.message)

    /// The failure behind any error of a call.
    static func of(_ error: Error) -> LaunchwayError {
        switch error {
        case let error as LaunchwayError:
            return error
        case SyncError.unverified(let trust):
            // The message begins with the code of the refusal, so that programs can read it.
            return LaunchwayError(trust.refusal == nil ? .network : .unverified, trust.message)
        case let error as SyncError:
            return LaunchwayError(code(of: error), error.message)
        case let error as StorageError:
            return LaunchwayError(.storage, "the storage failed: \(error.message)")
        default:
            return LaunchwayError(.unknown, errorMessage(error))
        }
    }

    private static func code(of error: SyncError) -> ErrorCode {
        switch error {
        case .notMain: return .notMain
        case .notStarted: return .notStarted
        case .corrupt: return .stateCorrupt
        case .storage: return .storage
        case .unverified: return .unverified
        case .check(.network), .download(.network): return .network
        case .check(.status), .download(.status): return .server
        case .check: return .invalidAnswer
        case .download(.noSpace), .install(.noSpace): return .noSpace
        case .download: return .downloadFailed
        case .install: return .badPackage
        }
    }
}
