// Clients do as the scenarios in `sdk/vectors/trust/workflow.json` say.
import XCTest

@testable import LaunchwayCore

final class WorkflowVectorsTests: XCTestCase {
    func testClientsDoAsTheScenariosSay() throws {
        let scenarios = try XCTUnwrap(Vectors.read("trust/workflow.json")["scenarios"]?.asArray)
        XCTAssertGreaterThanOrEqual(scenarios.count, 23, "the vectors are complete")
        for scenario in scenarios {
            try run(scenario)
        }
    }

    private func run(_ scenario: JsonValue) throws {
        let embedded = try TrustFile.parse(Utf8.encode(JsonWriter.ascii(XCTUnwrap(scenario["embedded"]))))
        let bundleId = try XCTUnwrap(scenario["bundleId"]?.asText)
        let configuration = try XCTUnwrap(scenario["configuration"]?.asText)
        var served = ServedFiles()
        var stored: StoredTrust?
        for (number, step) in try XCTUnwrap(scenario["steps"]?.asArray).enumerated() {
            let name = "\(scenario["name"]?.asText ?? ""), step \(number)"
            served.change(try XCTUnwrap(step["files"]?.asObject))
            let now = try XCTUnwrap(step["now"]?.asInteger)
            // Each step is a start of the app, with what the previous one stored.
            let client = try TrustClient(
                embedded: embedded, bundleId: bundleId, configuration: configuration, stored: stored)
            XCTAssertEqual(served.renew(client, now), step["expect"]?.asText, name)
            if let revoked = step["revoked"] {
                XCTAssertEqual(JsonValue.texts(client.revokedPackages.sorted().map(\.hex)), revoked, name)
            }
            for offer in step["offers"]?.asArray ?? [] {
                XCTAssertEqual(try decision(client, offer, now), offer["expect"]?.asText, "\(name): \(offer)")
            }
            let json = client.storedTrust.toJson()
            stored = try StoredTrust.parse(json)
            XCTAssertEqual(stored?.toJson(), json, "what is stored is read back")
        }
    }

    private func decision(_ client: TrustClient, _ vector: JsonValue, _ now: Int) throws -> String {
        let asking = try XCTUnwrap(vector["app"])
        let app = RunningApp(
            platform: try platform(asking),
            fingerprint: asking["fingerprint"]?.asText,
            version: try XCTUnwrap(Version.parse(XCTUnwrap(asking["version"]?.asText))),
            build: asking["build"]?.asText)
        let offer = TrustOffer(
            platform: try platform(vector),
            version: try XCTUnwrap(vector["version"]?.asText),
            buildNumber: try XCTUnwrap(vector["buildNumber"]?.asText),
            sha256: try XCTUnwrap(Sha256(XCTUnwrap(vector["sha256"]?.asText))),
            length: try XCTUnwrap(vector["size"]?.asInteger))
        do {
            _ = try client.accept(offer, app: app, now: now)
            return "accepted"
        } catch let refusal as Refusal {
            return refusal.code
        }
    }

    private func platform(_ value: JsonValue) throws -> Platform {
        try XCTUnwrap(Platform(rawValue: XCTUnwrap(value["platform"]?.asText)))
    }
}
