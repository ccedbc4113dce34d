// Reaches servers.

protocol Network: AnyObject {
    /// Sends a request and returns as soon as the headers are there. Redirects are not followed. Silence ends with an error
    /// after a timeout of the implementation's own, also while the body is read. Throws `NetworkError` if the server cannot
    /// be reached.
    func send(_ request: Request) throws -> Response

    /// Whether the connection costs nothing by the byte, such as Wi-Fi.
    var isUnmetered: Bool { get }
}

/// The server cannot be reached, or the connection broke.
struct NetworkError: MessageError {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
