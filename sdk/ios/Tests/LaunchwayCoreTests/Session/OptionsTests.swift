// What the settings of an app may say.
import XCTest

@testable import LaunchwayCore

final class OptionsTests: XCTestCase {
    private func read(_ json: String) throws -> Options {
        try Options.read(Utf8.encode(json))
    }

    private func refuse(_ json: String, _ message: String) {
        XCTAssertThrowsError(try read(json), json) {
            let found = errorMessage($0)
            XCTAssertTrue(found.hasPrefix(message), "\(json): \(found)")
        }
    }

    func testNothingSaidHasDefaults() throws {
        for options in [try read("{}"), Options.defaults()] {
            XCTAssertNil(options.serverUrl)
            XCTAssertNil(options.bundleId)
            XCTAssertNil(options.configuration)
            XCTAssertEqual(options.checkOn, .launch)
            XCTAssertEqual(options.apply, .nextLaunch)
            XCTAssertEqual(options.readyMode, .auto)
            XCTAssertEqual(options.readyTimeoutMs, 20_000)
            XCTAssertFalse(options.wifiOnly)
            XCTAssertEqual(options.keepSlots, 2)
            XCTAssertNil(options.entryFile)
            XCTAssertNil(options.builtAt)
        }
    }

    func testEverythingCanBeSaid() throws {
        let options = try read(
            #"{"serverUrl":"https://updates.example.com/api","bundleId":"com.example.app","configuration":"production","#
                + #""checkOn":"resume","apply":"onBackground","readyMode":"manual","readyTimeoutMs":1000,"wifiOnly":true,"#
                + #""keepSlots":10,"entryFile":"app/main.html","builtAt":1795255200000,"later":[1]}"#)
        XCTAssertEqual(options.serverUrl, "https://updates.example.com/api")
        XCTAssertEqual(options.bundleId, "com.example.app")
        XCTAssertEqual(options.configuration, "production")
        XCTAssertEqual(options.checkOn, .resume)
        XCTAssertEqual(options.apply, .onBackground)
        XCTAssertEqual(options.readyMode, .manual)
        XCTAssertEqual(options.readyTimeoutMs, 1_000)
        XCTAssertTrue(options.wifiOnly)
        XCTAssertEqual(options.keepSlots, 10)
        XCTAssertEqual(options.entryFile, "app/main.html")
        XCTAssertEqual(options.builtAt, 1_795_255_200_000)
    }

    func testWrongValuesAreRefused() {
        let timeout = "readyTimeoutMs must be a whole number from 1000 to 600000"
        let table = [
            ("serverUrl", "1", "serverUrl must be a text"), ("serverUrl", "null", "serverUrl must be a text"),
            ("serverUrl", "\"\"", "serverUrl must be an address"), ("serverUrl", "\"host/api\"", "serverUrl must be an address"),
            ("serverUrl", "\"ftp://host/api\"", "serverUrl must be an address"),
            ("serverUrl", "\"https://\"", "serverUrl must be an address"),
            ("serverUrl", "\"https:///api\"", "serverUrl must be an address"),
            ("serverUrl", "\"https://host/a b\"", "serverUrl must be an address"),
            ("serverUrl", "\"https://host/api?x=1\"", "serverUrl must be an address"),
            ("serverUrl", "\"https://host/api#x\"", "serverUrl must be an address"),
            ("bundleId", "\"\"", "bundleId must be a bundle identifier"),
            ("bundleId", "\"com..app\"", "bundleId must be a bundle identifier"),
            ("bundleId", "\"com.example/app\"", "bundleId must be a bundle identifier"),
            ("bundleId", "\"com.ex\u{e4}mple\"", "bundleId must be a bundle identifier"),
            ("configuration", "\"\"", "configuration must be 1 to 64 letters"),
            ("configuration", "\"a b\"", "configuration must be 1 to 64 letters"),
            ("checkOn", "\"Launch\"", "checkOn must be one of [launch, resume, manual]"),
            ("checkOn", "true", "checkOn must be a text"),
            ("apply", "\"now\"", "apply must be one of [nextLaunch, onBackground, immediate]"),
            ("readyMode", "\"never\"", "readyMode must be one of [auto, manual]"), ("readyTimeoutMs", "999", timeout),
            ("readyTimeoutMs", "600001", timeout), ("readyTimeoutMs", "\"20000\"", timeout),
            ("wifiOnly", "1", "wifiOnly must be true or false"),
            ("keepSlots", "0", "keepSlots must be a whole number from 1 to 10"),
            ("keepSlots", "11", "keepSlots must be a whole number from 1 to 10"),
            ("entryFile", "\"\"", "entryFile must be the path of a file"),
            ("entryFile", "\"/index.html\"", "entryFile must be the path of a file"),
            ("entryFile", "\"../index.html\"", "entryFile must be the path of a file"),
            ("entryFile", "\"app/\"", "entryFile must be the path of a file"),
            ("builtAt", "-1", "builtAt must be a whole number"),
        ]
        for (name, value, message) in table {
            refuse("{\"\(name)\":\(value)}", message)
        }
        refuse("", "is not JSON")
        refuse("[]", "is not an object")
        refuse("{\"keepSlots\":2,\"keepSlots\":3}", "has a name twice")
        refuse("{\"keepSlots\":2.0}", "has a number other")
    }

    func testConfigureReplacesWhatItNames() throws {
        let options = try read(#"{"serverUrl":"https://host/api","keepSlots":3}"#)
        let changed = try options.with(["keepSlots": .integer(4)])
        XCTAssertEqual(changed.serverUrl, "https://host/api")
        XCTAssertEqual(changed.keepSlots, 4)
        XCTAssertEqual(options.keepSlots, 3, "the old ones stay")
    }
}
