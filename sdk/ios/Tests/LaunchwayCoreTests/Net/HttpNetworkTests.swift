// The platform's HTTP client: what it sends, what it does not follow, and how it ends.
import Foundation
import XCTest

@testable import LaunchwayCore

final class HttpNetworkTests: XCTestCase {
    private let network = HttpNetwork { true }
    /// They run as long as somebody refers to them.
    private var servers: [LoopbackServer] = []

    private func serve(_ answer: @escaping LoopbackServer.Answer) -> LoopbackServer {
        let server = LoopbackServer(answer)
        servers.append(server)
        return server
    }

    func testStatusFieldsAndBodyArrive() throws {
        let server = serve { _, say in
            _ = say("HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\nhello")
        }
        let response = try network.send(Request.forBytes(server.url + "/x?y=%2F").adding("range", "bytes=5-"))
        XCTAssertEqual(response.status, 206)
        XCTAssertEqual(response.header("etag"), "\"a\"")
        XCTAssertEqual(response.header("content-range"), "bytes 5-9/10")
        XCTAssertEqual(try response.readBody(max: 100), Utf8.encode("hello"))
        let request = server.requests[0].lowercased()
        XCTAssertTrue(request.hasPrefix("get /x?y=%2f http/1.1"), request)
        XCTAssertTrue(request.contains("accept-encoding: identity\r\n"), request)
        XCTAssertTrue(request.contains("range: bytes=5-\r\n"), request)
        XCTAssertFalse(request.contains("cache-control"), request)
    }

    func testAPostSendsItsJson() throws {
        let server = serve { _, say in _ = say("HTTP/1.1 204 None\r\n\r\n") }
        let response = try network.send(Request.post(server.url, json: "{\"a\":1}"))
        XCTAssertEqual(response.status, 204)
        XCTAssertEqual(try response.readBody(max: 10), [])
        let request = server.requests[0]
        XCTAssertTrue(request.hasPrefix("POST / HTTP/1.1"), request)
        XCTAssertTrue(request.lowercased().contains("content-type: application/json\r\n"), request)
        XCTAssertTrue(request.hasSuffix("\r\n\r\n{\"a\":1}"), request)
    }

    func testARedirectIsTheResponse() throws {
        let server = serve { _, say in
            _ = say("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
        }
        XCTAssertEqual(try network.send(Request.forBytes(server.url)).status, 302)
        XCTAssertEqual(server.requests.count, 1)
    }

    func testNoCookieIsKept() throws {
        let server = serve { _, say in
            _ = say("HTTP/1.1 200 OK\r\nSet-Cookie: who=me\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\n\r\nx")
        }
        for _ in 0..<2 {
            let response = try network.send(Request.forBytes(server.url))
            XCTAssertEqual(try response.readBody(max: 10), Utf8.encode("x"))
        }
        XCTAssertEqual(server.requests.count, 2, "nothing is cached")
        XCTAssertFalse(server.requests[1].lowercased().contains("cookie"), server.requests[1])
    }

    func testABrokenBodyIsAnErrorBehindItsBytes() throws {
        let server = serve { _, say in _ = say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }
        let response = try network.send(Request.forBytes(server.url))
        XCTAssertThrowsError(try response.readBody(max: 100)) { XCTAssertTrue($0 is NetworkError) }
    }

    func testAnEndlessBodyIsReadWithinItsBound() throws {
        let ended = expectation(description: "the server notices that nobody listens")
        let server = serve { _, say in
            _ = say("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
            let piece = String(repeating: "x", count: 1 << 16)
            while say(piece) {}
            ended.fulfill()
        }
        let response = try network.send(Request.forBytes(server.url))
        XCTAssertEqual(try response.readBody(max: 1 << 20).count, 1 << 20 + 1)
        response.close()
        wait(for: [ended], timeout: 20)
    }

    func testALongBodyArrivesWhole() throws {
        let pieces = 200
        let server = serve { _, say in
            _ = say("HTTP/1.1 200 OK\r\nContent-Length: \(pieces << 16)\r\n\r\n")
            let piece = String(repeating: "x", count: 1 << 16)
            for _ in 0..<pieces where say(piece) {}
        }
        let response = try network.send(Request.forBytes(server.url))
        var count = 0
        while true {
            let bytes = try response.body.read(max: 1000)
            XCTAssertLessThanOrEqual(bytes.count, 1000)
            if bytes.isEmpty {
                break
            }
            count += bytes.count
        }
        XCTAssertEqual(count, pieces << 16)
    }

    func testSilenceEndsWithAnError() {
        for said in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"] {
            let end = DispatchSemaphore(value: 0)
            let server = serve { _, say in
                _ = say(said)
                end.wait()
            }
            let impatient = HttpNetwork(silenceTimeout: 1) { true }
            XCTAssertThrowsError(try impatient.send(Request.forBytes(server.url)).readBody(max: 100), said) {
                XCTAssertTrue($0 is NetworkError, said)
            }
            XCTAssertEqual(server.requests.count, 1, said)
            end.signal()
        }
    }

    func testNobodyAtTheAddressIsAnError() {
        // It is gone as soon as nobody refers to it.
        let gone = LoopbackServer { _, _ in }.url
        for url in [gone, "file:///etc/passwd", "", "http://", "ftp://127.0.0.1/x", "http://exa mple/"] {
            XCTAssertThrowsError(try network.send(Request.forBytes(url)), url) { XCTAssertTrue($0 is NetworkError, url) }
        }
    }
}
