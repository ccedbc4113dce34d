// Every method of the bridge: what it takes, what it answers, and how it fails.
import XCTest

@testable import LaunchwayCore

final class BridgeTests: XCTestCase {
    private static let withoutArguments = [
        "check", "download", "sync", "reload", "notifyAppReady", "current", "getNext", "list", "reset", "getFailedUpdate",
        "getDeviceId",
    ]

    private let app = TestApp()

    func testEachMethodAnswersItsForm() throws {
        app.reloads = true
        try app.launch().draw()
        let current = #"{"buildNumber":"1","embedded":true,"trial":false,"updateId":"embedded:1","version":"1.0.0"}"#
        let table = [
            ("configure", "{}", "{}"),
            ("configure", #"{"checkOn":"manual","apply":"immediate","readyMode":"manual"}"#, "{}"),
            ("check", "{}", #"{"status":"none"}"#), ("download", "{}", #"{"status":"none"}"#),
            ("sync", "{}", #"{"status":"none"}"#), ("notifyAppReady", "{}", #"{"confirmed":false}"#),
            ("current", "{}", current), ("getNext", "{}", #"{"update":null}"#), ("list", "{}", #"{"updates":[]}"#),
            ("reset", "{}", "{}"), ("getFailedUpdate", "{}", #"{"reason":null,"update":null}"#),
            ("getDeviceId", "{}", #"{"deviceId":"00000000000000000000000000000000"}"#), ("reload", "{}", "{}"),
        ]
        for (method, arguments, answer) in table {
            XCTAssertEqual(app.call(method, arguments), answer, method)
        }
    }

    func testAnUpdateIsNamedWithAllThatIsKnown() throws {
        try app.tryUpdate()
        let update = #"{"buildNumber":"101","id":"update_1","sha256":"\#(Update.number(1).sha256)","version":"1.0.0"}"#
        XCTAssertEqual(app.call("list"), #"{"updates":["# + update + "]}")
        XCTAssertEqual(
            app.call("current"),
            #"{"buildNumber":"101","embedded":false,"trial":true,"updateId":"update_1","version":"1.0.0"}"#)
        XCTAssertEqual(app.call("next", #"{"id":"update_1"}"#), #"{"update":"# + update + "}")
        app.session.onCrash(stack: nil)
        try app.launch()
        XCTAssertEqual(app.call("getFailedUpdate"), #"{"reason":"crashed","update":"# + update + "}")
        XCTAssertEqual(app.refusal("next", #"{"id":"update_1"}"#), "notFound")
    }

    func testArgumentsThatAreNoObjectAreRefused() throws {
        try app.launch()
        for text in [nil, "", " { } "] {
            XCTAssertEqual(app.call("getNext", text), #"{"update":null}"#)
        }
        let texts = ["[]", "null", "1", #""id""#, "{", #"{"id":1.5}"#, #"{"id":"a","id":"b"}"#, "nonsense"]
        for method in ["configure", "next", "sync", "getDeviceId"] {
            for text in texts {
                XCTAssertEqual(app.refusal(method, text), "invalidArgument", "\(method) \(text)")
            }
        }
    }

    func testMethodsTakeTheirArgumentsAndNoOthers() throws {
        try app.launch()
        for method in Self.withoutArguments {
            XCTAssertEqual(app.call(method, #"{"id":"a"}"#), "invalidArgument: \(method) takes no arguments")
        }
        for text in ["{}", #"{"id":""}"#, #"{"id":1}"#, #"{"id":null}"#, #"{"id":"a","x":1}"#] {
            XCTAssertEqual(app.refusal("next", text), "invalidArgument", text)
        }
        XCTAssertEqual(app.refusal("next", #"{"id":"update_9"}"#), "notFound")
        for method in ["", "Sync", "constructor", "toString"] {
            XCTAssertEqual(app.call(method), "invalidArgument: `\(method)` is not a method")
        }
    }

    func testWrongOptionsChangeNothing() throws {
        try app.launch()
        let texts = [#"{"checkOn":"always"}"#, #"{"keepSlots":1,"readyTimeoutMs":999}"#, #"{"entryFile":"main.js"}"#]
        for text in texts {
            XCTAssertEqual(app.refusal("configure", text), "invalidArgument", text)
        }
        XCTAssertEqual(app.call("configure", #"{"chekOn":"launch"}"#), "invalidArgument: `chekOn` is not an option")
    }

    func testWithoutAServerOnlyRoundsFail() throws {
        app.file = "{}"
        try app.launch().draw()
        XCTAssertEqual(app.checks, 0)
        for method in ["check", "download", "sync"] {
            XCTAssertEqual(app.refusal(method), "notConfigured", method)
        }
        XCTAssertTrue(app.call("current").contains(#""embedded":true"#))
        XCTAssertEqual(app.call("configure", TestApp.server), "{}")
        XCTAssertEqual(app.call("sync"), #"{"status":"none"}"#)
    }

    func testAnotherProcessMayOnlyLook() throws {
        try app.tryUpdate()
        let other = try app.anotherProcess()
        for method in Self.withoutArguments where !["notifyAppReady", "current"].contains(method) {
            XCTAssertEqual(other.refusal(method), "notMain", method)
        }
        XCTAssertEqual(other.refusal("next", #"{"id":"update_1"}"#), "notMain")
        XCTAssertEqual(other.call("notifyAppReady"), #"{"confirmed":false}"#)
        XCTAssertTrue(other.call("current").contains(#""updateId":"update_1""#), "it runs the same")
        other.draw()
        other.leave()
        other.session.onCrash(stack: nil)
        XCTAssertTrue(try app.attempt().foreground && !app.attempt().crashed, "it notes nothing")
    }

    func testACorruptStateHasItsCode() throws {
        try app.launch()
        app.disk.put("state.json", Utf8.encode("{"))
        try app.launch()
        XCTAssertEqual(app.refusal("list"), "stateCorrupt")
        XCTAssertEqual(app.refusal("download"), "stateCorrupt")
        XCTAssertEqual(app.refusal("download"), "notStarted", "set aside")
        try app.launch()
        XCTAssertEqual(app.call("list"), #"{"updates":[]}"#, "a new start")
    }

    func testASessionThatIsOffSaysWhy() {
        app.use(Session.off(LaunchwayError(.storage, "the phone is locked"), app.threads.ports))
        for method in Self.withoutArguments {
            XCTAssertEqual(app.call(method), "storage: the phone is locked", method)
        }
        XCTAssertEqual(app.refusal("configure"), "storage")
        XCTAssertEqual(app.refusal("next", #"{"id":"update_1"}"#), "storage")
        app.listen()
        app.draw()
        app.leave()
        app.enter()
        app.session.onCrash(stack: nil)
        XCTAssertNil(app.folder)
        XCTAssertEqual(app.events, [])
    }

    func testStorageWithoutALockIsOff() throws {
        try app.launch(window: true, .explained)
        let broken = MemoryDisk()
        broken.hasLock = false
        app.take(broken)
        try app.restart()
        XCTAssertNil(app.folder)
        XCTAssertTrue(app.call("current").hasPrefix("storage: the storage failed: "))
    }

    func testErrorsHaveTheCodesOfEveryLanguage() throws {
        try app.launch().draw()
        app.server.checkStatus = 503
        XCTAssertEqual(app.refusal("check"), "server")
        app.server.checkStatus = 200
        app.server.says = "{"
        XCTAssertEqual(app.refusal("check"), "invalidAnswer")
        app.server.says = nil
        app.server.offer = Update.number(1)
        app.disk.free = 1 << 20
        XCTAssertEqual(app.refusal("download"), "noSpace")
        XCTAssertEqual(LaunchwayError.of(CocoaError(.fileReadUnknown)).code, .unknown)
    }

    func testAnAppWithARootThatCannotBeReadTakesNothing() throws {
        app.trustFile = Utf8.encode("{")
        app.server.offer = Update.number(1)
        try app.launch().draw()
        let answer = app.call("sync")
        XCTAssertTrue(answer.hasPrefix("unverified: malformed: "), answer)
    }
}
