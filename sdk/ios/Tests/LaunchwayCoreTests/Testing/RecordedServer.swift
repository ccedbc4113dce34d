// A server that responds as recorded in `sdk/vectors/signed-rounds.json`, to the recorded requests only.
import XCTest

@testable import LaunchwayCore

final class RecordedServer: Network {
    private var exchanges: ArraySlice<JsonValue>
    private let bodies: [JsonValue]
    private let about: String

    init(_ exchanges: [JsonValue], _ bodies: [JsonValue], about: String) {
        self.exchanges = exchanges[...]
        self.bodies = bodies
        self.about = about
    }

    let isUnmetered = true

    var isDone: Bool { exchanges.isEmpty }

    func send(_ request: Request) throws -> Response {
        guard let exchange = exchanges.popFirst() else {
            XCTFail("\(about): no further request, but one for \(request.url)")
            throw NetworkError("no further request")
        }
        XCTAssertEqual(request.url, exchange["url"]?.asText, about)
        XCTAssertEqual(request.headers["cache-control"] != nil, exchange["noCache"] != nil, about)
        let sent = try request.body.map { try JsonReader.read(Utf8.encode($0), limit: 1 << 20) }
        XCTAssertEqual(sent, exchange["sends"], about)
        let body = try Fields(exchange, "exchange").count("body")
        let bytes = bodies[body].asText.map(Utf8.encode) ?? Hex.decode(bodies[body]["hex"]?.asText ?? "")
        let headers = exchange["etag"]?.asText.map { [(name: "ETag", value: $0)] } ?? []
        let status = try Fields(exchange, "exchange").count("status")
        return Response(status: status, headers: headers, body: MemoryBody(bytes ?? []))
    }
}
