// The check: what it sends, and which responses it rejects.
import XCTest

@testable import LaunchwayCore

final class CheckTests: XCTestCase {
    private let phone = Phone()
    private let server = FakeServer(Update.number(1))

    private func check(_ answer: String) throws -> CheckAnswer {
        server.says = answer
        let device = try phone.process(server)
        _ = device.start()
        return try device.check()
    }

    private func check(with changes: [String: JsonValue]) throws -> CheckAnswer {
        var answer = Update.number(1).answer
        for (name, value) in changes {
            answer[name] = value
        }
        return try check(JsonWriter.plain(.object(answer)))
    }

    func testTheCheckSendsWhatRunsAndWhoAsks() throws {
        phone.settings.fingerprint = "a/b"
        let device = try phone.process(server)
        _ = device.start()
        _ = try device.sync()
        XCTAssertEqual(device.start(), Update.number(1).content)
        _ = try device.check()
        XCTAssertEqual(
            server.requests.last?.url,
            "https://host/api/update/check/com.example.app?currentVersion=1.0.0&currentBuild=101&currentUpdateId=update_1"
                + "&deviceId=07070707070707070707070707070707&platform=ios&fingerprint=a%2Fb&configuration=production")
    }

    func testAnswersOfAnotherFormAreRefused() throws {
        XCTAssertNotNil(try check(with: [:]).offer)
        let wrong: [(String, JsonValue)] = [
            ("updateAvailable", .text("true")), ("requiresStoreUpdate", .null), ("sha256", .text("abc")), ("sha256", .null),
            ("size", .integer(0)), ("size", .integer(-1)), ("size", .integer(1 << 40)), ("size", .text("100")),
            ("platform", .text("android")), ("url", .text("file:///etc/passwd")), ("id", .integer(7)),
            ("version", .text("one")), ("buildNumber", .text("1.5")), ("manifest", .text("abc")),
        ]
        for (name, value) in wrong {
            XCTAssertThrowsError(try check(with: [name: value]), "\(name) \(value)") { error in
                guard case SyncError.check(.malformed) = error else {
                    return XCTFail("\(name): \(error)")
                }
            }
        }
        let texts = [
            "", "null", "[]", "{\"updateAvailable\":true,\"updateAvailable\":false}", String(repeating: " ", count: 300_000),
        ]
        for text in texts {
            XCTAssertThrowsError(try check(text), text.prefix(20).description)
        }
    }

    func testAnOfferThatIsNotNewerIsRefused() throws {
        let offers: [(String, String, Bool)] = [
            ("0.9.9", "999", false), ("1.0.0", "1", false), ("1.0.0", "0", false), ("1.0.0", "2", true), ("1.0.1", "0", true),
        ]
        for (version, build, isNewer) in offers {
            let answer = try? check(with: ["version": .text(version), "buildNumber": .text(build)])
            XCTAssertEqual(answer != nil, isNewer, "\(version) (\(build))")
        }
    }

    func testAStoreUpdateHasItsReason() throws {
        let answer = try check(with: ["requiresStoreUpdate": .bool(true), "compatibilityReason": .text("plugins")])
        guard case .storeUpdateRequired("plugins") = answer.content else {
            return XCTFail("\(answer.content)")
        }
    }

    func testAServerThatIsAwayChangesNothing() throws {
        server.isAway = true
        let device = try phone.process(server)
        _ = device.start()
        XCTAssertThrowsError(try device.sync()) { error in
            XCTAssertEqual((error as? SyncError)?.message, "the server cannot be reached: connection refused")
        }
        XCTAssertEqual(device.start(), .embedded)
    }

    func testAServerThatRefusesSaysForHowLong() throws {
        server.checkStatus = 503
        let device = try phone.process(server)
        _ = device.start()
        XCTAssertThrowsError(try device.check()) { error in
            guard case SyncError.check(.status(503, nil)) = error else {
                return XCTFail("\(error)")
            }
        }
    }
}
