// A GET over HTTP/1.0, as much as the suite's local server needs.
import Foundation

/// The most bytes of an answer's status line and headers.
private let headLimit = 16 << 10

/// The body at the URL, of at most `limit` bytes; nil: the server does not have it.
func fetch(_ url: String, limit: Int) throws -> [UInt8]? {
    let parts = url.components(separatedBy: "/")
    guard parts.count > 3, parts[0] == "http:", let address = parts[2].range(of: ":", options: .backwards) else {
        throw Failure("only http:// URLs with a port are fetched: \(url)")
    }
    let path = parts.dropFirst(3).filter { !$0.isEmpty }.joined(separator: "/")
    let answer = try exchange(
        host: String(parts[2][..<address.lowerBound]), port: String(parts[2][address.upperBound...]),
        request: "GET /\(path) HTTP/1.0\r\nHost: \(parts[2])\r\n\r\n", limit: limit + headLimit)
    guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else {
        throw Failure("the answer has no end of its headers")
    }
    let body = [UInt8](answer[end.upperBound...])
    guard body.count <= limit else {
        throw Failure("\(path) is longer than \(limit) bytes")
    }
    let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
    switch head.components(separatedBy: " ").dropFirst().first {
    case "200": return body
    case "403", "404": return nil
    default: throw Failure("\(path): \(head.prefix(40))")
    }
}

/// Sends the request, and reads at most one byte more than `limit`.
private func exchange(host: String, port: String, request: String, limit: Int) throws -> Data {
    var hints = addrinfo()
    hints.ai_family = AF_INET
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0, let address = found?.pointee else {
        throw Failure("\(host) is unknown")
    }
    defer { freeaddrinfo(found) }
    let connection = socket(address.ai_family, address.ai_socktype, 0)
    defer { close(connection) }
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard connect(connection, address.ai_addr, address.ai_addrlen) == 0 else {
        throw Failure("\(host):\(port) does not answer")
    }
    let sent = Array(request.utf8)
    guard write(connection, sent, sent.count) == sent.count else {
        throw Failure("the request was not sent")
    }
    var answer = Data()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while answer.count <= limit {
        let count = read(connection, &piece, piece.count)
        guard count >= 0 else {
            throw Failure("the answer broke off")
        }
        if count == 0 {
            break
        }
        answer.append(contentsOf: piece[..<count])
    }
    return answer
}
