// A server in memory that offers an update, and fails in chosen ways.
import XCTest

@testable import LaunchwayCore

final class FakeServer: Network {
    /// How a request for a package fails.
    enum Trouble {
        /// The connection breaks after so many bytes of the body.
        case breaks(Int)
        case status(Int)
        /// The server ignores the range.
        case whole
        /// The range begins at another byte than requested.
        case shifted
        /// Bytes are changed.
        case garbled
        /// The body never ends.
        case endless
        /// The body is compressed.
        case encoded
        /// The server has no ETag.
        case noEtag
    }

    /// What is offered to apps that run an older build; nil: nothing.
    var offer: Update?
    /// The answer to checks, if it is not that of `offer`.
    var says: String?
    var isAway = false
    var isMetered = false
    /// The status of answers to checks and to reports.
    var checkStatus = 200
    var reportStatus = 200
    /// The statuses of the next answers to reports, before that one.
    var reportStatuses: [Int] = []
    /// What happens to the next requests for a package.
    var troubles: [Trouble] = []
    private(set) var requests: [Request] = []
    /// The reports that were taken, as `type update reason`.
    private(set) var reports: [String] = []

    init(_ offer: Update? = nil) {
        self.offer = offer
    }

    var isUnmetered: Bool { !isMetered }

    /// The requests for packages.
    var downloads: [Request] {
        requests.filter { $0.url.contains("/package") }
    }

    func send(_ request: Request) throws -> Response {
        requests.append(request)
        if isAway {
            throw NetworkError("connection refused")
        }
        if request.url.contains("/update/check/") {
            return answer(checkStatus, Utf8.encode(says ?? check(request.url)))
        } else if request.url.contains("/update/report/") {
            let status = reportStatuses.isEmpty ? reportStatus : reportStatuses.removeFirst()
            if status == 200 {
                try take(request.body)
            }
            return answer(status, Utf8.encode("{}"))
        } else if request.url.contains("/package"), let offer = offer {
            return package(offer.bytes, request, troubles.isEmpty ? nil : troubles.removeFirst())
        }
        return answer(404, [])
    }

    private func check(_ url: String) -> String {
        let digits = url.components(separatedBy: "currentBuild=")[1].prefix { $0.isNumber }
        if let offer = offer, offer.build > Int(digits) ?? 0 {
            return JsonWriter.ascii(.object(offer.answer))
        }
        return #"{"updateAvailable":false,"message":"No update available","reportToken":"token"}"#
    }

    private func take(_ body: String?) throws {
        let json = try JsonReader.read(Utf8.encode(body ?? ""), limit: 1 << 20)
        for event in try Fields(json, "body").array("events") {
            let texts = ["type", "updateId", "reason"].compactMap { event[$0]?.asText }
            reports.append(texts.joined(separator: " "))
        }
    }

    private func package(_ bytes: [UInt8], _ request: Request, _ trouble: Trouble?) -> Response {
        let etag = "\"\(Sha256.of(bytes))\""
        var headers = [(name: "ETag", value: etag)]
        var ending = MemoryBody.Ending.whole
        var from = request.headers["if-range"] == etag ? Self.start(of: request.headers["range"]) : 0
        var named = from
        var change: (ArraySlice<UInt8>) -> [UInt8] = { Array($0) }
        switch trouble {
        case .status(let status)?:
            return answer(status, [])
        case .breaks(let count)?:
            change = { Array($0.prefix(count)) }
            ending = .broken
        case .whole?:
            (from, named) = (0, 0)
        case .shifted?:
            (from, named) = (from + 1, from + 1)
        case .garbled?:
            change = { $0.map { $0 ^ 1 } }
        case .endless?:
            ending = .endless
        case .encoded?:
            headers.append((name: "Content-Encoding", value: "gzip"))
        case .noEtag?:
            headers = []
        case nil:
            break
        }
        if from >= bytes.count {
            return answer(416, [])
        }
        if named > 0 {
            headers.append((name: "Content-Range", value: "bytes \(named)-\(bytes.count - 1)/\(bytes.count)"))
        }
        return Response(status: named > 0 ? 206 : 200, headers: headers, body: MemoryBody(change(bytes[from...]), ending))
    }

    private static func start(of range: String?) -> Int {
        range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    }

    private func answer(_ status: Int, _ body: [UInt8]) -> Response {
        Response(status: status, headers: [], body: MemoryBody(body))
    }
}
