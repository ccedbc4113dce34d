// An app with a root takes nothing that its developers did not sign, however the server or its own files fail.
import XCTest

@testable import LaunchwayCore

/// Answers with the recorded check and package of the first trace, and with its metadata file by file.
private final class FileServer: Network {
    var files: [String: [UInt8]] = [:]
    private(set) var requests: [String] = []
    /// The answer in one trip.
    var oneTripStatus = 404
    var oneTrip: [UInt8] = []
    let isUnmetered = true

    private let check: [UInt8]
    private let package: [UInt8]

    init(_ bodies: [JsonValue]) throws {
        check = Utf8.encode(try XCTUnwrap(bodies[0].asText))
        package = try XCTUnwrap(Hex.decode(XCTUnwrap(bodies[2]["hex"]?.asText)))
        let answer = try JsonReader.read(Utf8.encode(XCTUnwrap(bodies[1].asText)), limit: 1 << 20)
        let delegated = answer["delegated"]?["c-production"]
        let listed = [
            ("timestamp.json", answer["timestamp"]), ("1795255201.snapshot.json", answer["snapshot"]),
            ("1.targets.json", answer["targets"]), ("2.c-production.json", delegated),
        ]
        for (name, text) in listed {
            files[name] = Utf8.encode(try XCTUnwrap(text?.asText))
        }
    }

    func forgetRequests() {
        requests = []
    }

    func send(_ request: Request) throws -> Response {
        requests.append(request.url)
        let base = "https://host/tuf/com.example.app/"
        if request.url.hasPrefix(base + "trust?") {
            return answer(oneTripStatus, oneTrip)
        } else if request.url.hasPrefix(base) {
            let file = files[String(request.url.dropFirst(base.count))]
            return answer(file == nil ? 404 : 200, file ?? [])
        }
        let isCheck = request.url.contains("/update/check/")
        return answer(200, request.body != nil ? [] : isCheck ? check : package)
    }

    private func answer(_ status: Int, _ body: [UInt8]) -> Response {
        Response(status: status, headers: [], body: MemoryBody(body))
    }
}

final class SignedTrustTests: XCTestCase {
    private let phone = Phone()

    private func server() throws -> FileServer {
        let vectors = try Fields(Vectors.read("signed-rounds.json"), "vectors")
        let trace = try Fields(vectors.array("traces")[0], "trace")
        phone.settings.platform = .android
        phone.trustFile = Utf8.encode(try trace.text("trustFile"))
        phone.builtAt = try trace.count("builtAt")
        phone.clock.now = phone.builtAt
        return try FileServer(vectors.array("bodies"))
    }

    /// The outcome of a round, or the code of the refusal.
    private func round(_ server: FileServer) throws -> String {
        let device = try phone.process(server)
        _ = device.start()
        do {
            return try device.sync().text
        } catch SyncError.unverified(let failure) {
            return "refused \(failure.refusal?.code ?? "nothing")"
        }
    }

    private func start(_ server: FileServer) throws -> Content {
        try phone.process(server).start()
    }

    func testMetadataIsFetchedFileByFileWhereThereIsNoOneTrip() throws {
        let server = try server()
        XCTAssertEqual(try round(server), "staged update_1")
        XCTAssertTrue(server.requests.contains("https://host/tuf/com.example.app/2.root.json"))
        XCTAssertNotEqual(try start(server), .embedded)
    }

    func testAnAnswerThatIsNoMetadataMakesTheClientAskForFiles() throws {
        let server = try server()
        server.oneTripStatus = 200
        server.oneTrip = Utf8.encode("<html>")
        XCTAssertEqual(try round(server), "staged update_1")
    }

    func testAServerErrorEndsTheRoundWithoutARefusal() throws {
        let server = try server()
        server.oneTripStatus = 500
        XCTAssertEqual(try round(server), "refused nothing")
        XCTAssertFalse(server.requests.contains { $0.contains("/update/report/") })
    }

    func testAnEndlessFileOfMetadataIsRefused() throws {
        let server = try server()
        server.files["timestamp.json"] = [UInt8](repeating: 32, count: 8 << 20)
        XCTAssertEqual(try round(server), "refused malformed")
    }

    func testAnUnreadableTrustFileTakesAndStartsNothing() throws {
        let server = try server()
        XCTAssertEqual(try round(server), "staged update_1")
        XCTAssertNotEqual(try start(server), .embedded)
        for text in ["", "{}", "{\"root\":\"{}\"}", String(repeating: " ", count: 300_000)] {
            phone.trustFile = Utf8.encode(text)
            XCTAssertEqual(try start(server), .embedded)
            XCTAssertEqual(try round(server), "refused malformed")
        }
    }

    func testAConfigurationThatIsNoneTakesNothing() throws {
        let server = try server()
        phone.settings.configuration = "../production"
        XCTAssertEqual(try round(server), "refused malformed")
    }

    func testWhatWasLearnedIsKeptWhenALaterFileIsRefused() throws {
        let server = try server()
        let role = server.files["2.c-production.json"]
        server.files["2.c-production.json"] = Utf8.encode("{}")
        XCTAssertEqual(try round(server), "refused malformed")
        server.files["2.c-production.json"] = role
        server.forgetRequests()
        XCTAssertEqual(try round(server), "staged update_1")
        XCTAssertFalse(server.requests.contains { $0.contains("snapshot.json") }, "the snapshot was kept")
    }
}
