// An HTTP server on this machine that says exactly what a test wants, one connection after the other.
import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

final class LoopbackServer {
    /// Writes what the server says; returns whether the client still listens.
    typealias Say = (String) -> Bool
    /// Gets the request line and header fields with the body, and says the response. The connection ends when it returns.
    typealias Answer = (_ request: String, _ say: Say) -> Void

    let url: String
    private let listener: Int32
    private let lock = NSLock()
    private var received: [String] = []

    init(_ answer: @escaping Answer) {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let listener = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(listener, $0, length) == 0 && listen(listener, 8) == 0)
                precondition(getsockname(listener, $0, &length) == 0)
            }
        }
        self.listener = listener
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 {
                    return
                }
                let request = Self.readRequest(connection)
                self?.note(request)
                answer(request) { Self.write($0, connection) }
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The requests so far.
    var requests: [String] {
        lock.lock()
        defer { lock.unlock() }
        return received
    }

    private func note(_ request: String) {
        lock.lock()
        received.append(request)
        lock.unlock()
    }

    /// Reads to the end of the header fields, and as much of a body as they announce.
    private static func readRequest(_ connection: Int32) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isWhole(text) {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count <= 0 {
                break
            }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }

    private static func isWhole(_ text: String) -> Bool {
        guard let end = text.range(of: "\r\n\r\n") else {
            return false
        }
        let announced = text.lowercased().range(of: "content-length: ").map { text[$0.upperBound...].prefix { $0.isNumber } }
        return text[end.upperBound...].utf8.count >= announced.flatMap { Int($0) } ?? 0
    }

    private static func write(_ text: String, _ connection: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
            if count <= 0 {
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
