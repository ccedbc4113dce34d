// What the SDK reads of the store binary, and what it does with the client's folder.
import Foundation
import XCTest

@testable import LaunchwayApple
@testable import LaunchwayCore

final class AppInfoTests: XCTestCase {
    private let info: [String: Any] = [
        "CFBundleIdentifier": "com.example.app", "CFBundleVersion": "42", "CFBundleShortVersionString": "1.2.3",
        "LaunchwaySettings": #"{"serverUrl":"https://host/api"}"#, "LaunchwayTrust": "{}", "LaunchwayFingerprint": "abc",
    ]

    func testTheBinaryIsItsNumbersAndItsTime() {
        let app = AppInfo(info, installedAt: Date(timeIntervalSince1970: 1.5), entryFile: "index.html")
        XCTAssertEqual(app.facts.binary, Binary(code: "42", name: "1.2.3", installedAt: 1500))
        XCTAssertEqual(app.facts.bundleId, "com.example.app")
        XCTAssertEqual(app.facts.fingerprint, "abc")
        XCTAssertEqual(app.facts.trustFile, Utf8.encode("{}"))
        XCTAssertEqual(app.settings, Utf8.encode(#"{"serverUrl":"https://host/api"}"#))
    }

    func testABinaryThatSaysNothingIsOneAllTheSame() {
        let app = AppInfo([:], installedAt: nil, entryFile: "index.html")
        XCTAssertEqual(app.facts.binary, Binary(code: "0", name: "0", installedAt: 0))
        XCTAssertNil(app.facts.trustFile)
        XCTAssertNil(app.settings)
    }

    func testATrustFileOfAnotherTypeIsNotNone() {
        let app = AppInfo(["LaunchwayTrust": ["root": 1]], installedAt: nil, entryFile: "index.html")
        XCTAssertEqual(app.facts.trustFile, [])
    }

    func testAPrewarmedStartHasNoWindow() {
        XCTAssertFalse(AppWindow.isExpected(["ActivePrewarm": "1"]))
        XCTAssertTrue(AppWindow.isExpected(["ActivePrewarm": "0"]))
        XCTAssertTrue(AppWindow.isExpected([:]))
    }

    func testTheFolderIsMadeOnce() throws {
        let support = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: support) }
        let path = try ClientFolder.prepare(in: support)
        XCTAssertEqual(path, support.appendingPathComponent("launchway").path)
        XCTAssertEqual(try ClientFolder.prepare(in: support), path)
        try Data().write(to: support.appendingPathComponent("file"))
        XCTAssertThrowsError(try ClientFolder.prepare(in: support.appendingPathComponent("file")))
    }
}
