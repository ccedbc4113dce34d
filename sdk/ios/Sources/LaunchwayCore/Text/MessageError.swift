// An error with a message for people and reports.

protocol MessageError: Error {
    var message: String { get }
}

/// The message of an error, whoever threw it.
func errorMessage(_ error: Error) -> String {
    (error as? MessageError)?.message ?? "\(error)"
}

extension FormError: MessageError {}
extension StorageError: MessageError {}
extension InstallError: MessageError {}
