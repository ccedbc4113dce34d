// What a phone trusts survives restarts, hostile storage and hostile files.
import XCTest

@testable import LaunchwayCore

final class TrustClientTests: XCTestCase {
    private let day = 24 * 60 * 60 * 1000

    func testStoredFilesThatDoNotVerifyAreDropped() throws {
        let scenario = try Scenario(0)
        let client = try scenario.open()
        XCTAssertEqual(scenario.files.renew(client, scenario.now), "accepted")
        let stored = client.storedTrust.toJson()
        XCTAssertGreaterThan(try scenario.open(StoredTrust.parse(stored)).snapshotVersion, 0, "kept")
        let changed = stored.replacingOccurrences(
            of: "\\\"version\\\": 1795168800", with: "\\\"version\\\": 1795168801")
        XCTAssertNotEqual(changed, stored)
        let reopened = try scenario.open(StoredTrust.parse(changed))
        XCTAssertEqual(reopened.snapshotVersion, 0, "dropped")
        XCTAssertEqual(scenario.files.renew(reopened, scenario.now), "accepted", "fetched again")
    }

    func testStorageThatIsNoneIsRefused() throws {
        let stored = try Scenario(0).open().storedTrust.toJson()
        let texts = [
            "", "{}", "[]", "null", String(stored.dropFirst()),
            stored.replacingOccurrences(of: "\"floors\":{}", with: "\"floors\":[]"),
            stored.replacingOccurrences(of: "\"lineage\":{\"1\"", with: "\"lineage\":{\"\u{661}\""),
            stored.replacingOccurrences(of: "\"lineage\":{\"1\"", with: "\"lineage\":{\"99999999999999999999\""),
        ]
        for text in texts {
            XCTAssertNotEqual(text, stored)
            XCTAssertThrowsError(try StoredTrust.parse(text), text)
        }
    }

    func testStoredRootsCountOnlyIfTheirChainContainsTheEmbeddedOne() throws {
        let scenario = try Scenario(1)
        let client = try scenario.open()
        XCTAssertEqual(scenario.files.renew(client, scenario.now), "accepted")
        XCTAssertEqual(client.rootVersion, 2)
        let stored = client.storedTrust.toJson()
        XCTAssertEqual(try scenario.open(StoredTrust.parse(stored)).rootVersion, 2, "the chain is known")
        let start = try XCTUnwrap(stored.range(of: "\"lineage\":{\"1\":\""))
        let digits = start.upperBound..<stored.index(start.upperBound, offsetBy: 4)
        let other = stored.replacingCharacters(in: digits, with: stored[digits] == "0000" ? "1111" : "0000")
        XCTAssertEqual(try scenario.open(StoredTrust.parse(other)).rootVersion, 1, "another chain")
    }

    func testAnotherRepositoryKeepsNothing() throws {
        let scenario = try Scenario(0)
        let client = try scenario.open()
        XCTAssertEqual(scenario.files.renew(client, scenario.now), "accepted")
        let other = client.storedTrust.toJson().replacingOccurrences(
            of: "\"repository\":\"\(scenario.embedded.repository)",
            with: "\"repository\":\"" + String(repeating: "08", count: 16))
        XCTAssertEqual(try scenario.open(StoredTrust.parse(other)).snapshotVersion, 0)
    }

    func testARootOfAnotherAppIsRefused() throws {
        let embedded = try Scenario(0).embedded
        let open = { (bundleId: String) in
            _ = try TrustClient(embedded: embedded, bundleId: bundleId, configuration: "production", stored: nil)
        }
        try open("Com.Example.APP")
        for other in ["com.example.other", "", "com.example.app\0", "com.example.\u{212a}"] {
            XCTAssertThrowsError(try open(other)) {
                XCTAssertEqual(($0 as? RoleError)?.code, "other-repository-or-app")
            }
        }
    }

    func testMetadataIsFetchedWhenItIsNewerAndOnceADay() throws {
        let scenario = try Scenario(0)
        let client = try scenario.open()
        XCTAssertEqual(scenario.files.renew(client, scenario.now), "accepted")
        let now = scenario.now
        let cases = [
            (0, 0, now, now, false, "current"), (1, 0, now, now, true, "a newer root"),
            (0, 1, now, now, true, "a newer snapshot"), (0, 0, now, now + day - 1, false, "within a day"),
            (0, 0, now, now + day, true, "after a day"), (0, 0, now, now - 1, true, "after a clock was set back"),
            (0, 0, 0, Int.max, true, "at the end of time"), (0, 0, Int.min, Int.max, true, "over all time"),
            (0, 0, Int.max, Int.min, true, "back over all time"),
        ]
        for (root, snapshot, refreshedAt, time, isBehind, when) in cases {
            let answer = client.isBehind(
                root: 1 + root, snapshot: client.snapshotVersion + snapshot, refreshedAt: refreshedAt, now: time)
            XCTAssertEqual(answer, isBehind, when)
        }
    }

    func testATrustFileWithAnUnknownFieldIsRefused() throws {
        var members = try XCTUnwrap(Scenario(0).content["embedded"]?.asObject)
        let parse = { try TrustFile.parse(Utf8.encode(JsonWriter.ascii(.object(members)))) }
        _ = try parse()
        members["forbidden"] = .null
        XCTAssertThrowsError(try parse())
    }

    func testAnAnswerHasAtMost16Roots() throws {
        let answer = { (count: Int) -> TrustAnswer in
            let roots = JsonValue.texts([String](repeating: "", count: count))
            return try TrustAnswer.parse(Utf8.encode(JsonWriter.plain(.object(["roots": roots]))))
        }
        XCTAssertFalse(try answer(15).isFullOfRoots)
        XCTAssertTrue(try answer(16).isFullOfRoots)
        XCTAssertThrowsError(try answer(17))
    }
}
