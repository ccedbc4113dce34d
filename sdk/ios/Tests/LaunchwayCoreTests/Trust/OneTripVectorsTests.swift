// The metadata of `sdk/vectors/signed-rounds.json` is asked for and taken, in one trip and file by file, as it says.
import XCTest

@testable import LaunchwayCore

final class OneTripVectorsTests: XCTestCase {
    private let base = "https://host/tuf/com.example.app/"
    private var bodies: [JsonValue] = []

    func testMetadataIsRenewedAsTheRoundsSay() throws {
        let vectors = try Vectors.read("signed-rounds.json")
        bodies = try XCTUnwrap(vectors["bodies"]?.asArray)
        let traces = try XCTUnwrap(vectors["traces"]?.asArray)
        XCTAssertGreaterThanOrEqual(traces.count, 20, "the vectors are complete")
        for trace in traces {
            try run(trace)
        }
    }

    private func run(_ trace: JsonValue) throws {
        let embedded = try TrustFile.parse(Utf8.encode(XCTUnwrap(trace["trustFile"]?.asText)))
        let builtAt = try XCTUnwrap(trace["builtAt"]?.asInteger)
        let name = trace["name"]?.asText ?? ""
        var stored: StoredTrust?
        for step in try XCTUnwrap(trace["steps"]?.asArray) {
            let client = try TrustClient(
                embedded: embedded, bundleId: "com.example.app", configuration: "production", stored: stored)
            var exchanges = (step["http"]?.asArray ?? []).filter { $0["url"]?.asText?.hasPrefix(base) ?? false }[...]
            let clock = try XCTUnwrap(step["now"]?.asInteger)
            var outcome = "accepted"
            while !exchanges.isEmpty {
                let now = TrustClient.now(deviceClock: clock, appBuiltAt: builtAt)
                outcome = try renew(client.refresh(now: now), &exchanges)
            }
            let expected = try XCTUnwrap(step["expect"]?.asText)
            let isRefusedRole = expected.hasPrefix("refused ") && !expected.contains("not-signed")
            if isRefusedRole {
                XCTAssertTrue(expected.hasPrefix("refused \(outcome)"), "\(name): \(outcome)")
            } else {
                XCTAssertEqual(outcome, "accepted", name)
            }
            stored = try StoredTrust.parse(client.storedTrust.toJson())
        }
    }

    private func renew(_ refresh: Refresh, _ exchanges: inout ArraySlice<JsonValue>) throws -> String {
        let client = refresh.client
        let query = "trust?root=\(client.rootVersion)&snapshot=\(client.snapshotVersion)&configuration=production"
        let answer = try TrustAnswer.parse(response(&exchanges, query))
        do {
            while case .lacksFile = try refresh.takeAnswer(answer) {
                let request = try XCTUnwrap(refresh.nextRequest())
                _ = try refresh.take(response(&exchanges, request.fileName))
            }
            return "accepted"
        } catch let refusal as RoleError {
            return "\(refusal.role) \(refusal.code)"
        }
    }

    /// The recorded response to the request that comes next, which must be this one.
    private func response(_ exchanges: inout ArraySlice<JsonValue>, _ name: String) throws -> [UInt8] {
        let exchange = try XCTUnwrap(exchanges.popFirst())
        XCTAssertEqual(exchange["url"]?.asText, base + name)
        XCTAssertEqual(exchange["status"], .integer(200))
        return Utf8.encode(try XCTUnwrap(bodies[XCTUnwrap(exchange["body"]?.asInteger)].asText))
    }
}
