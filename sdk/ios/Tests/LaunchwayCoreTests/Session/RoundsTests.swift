// When rounds with the server begin, who joins them, and their events.
import XCTest

@testable import LaunchwayCore

final class RoundsTests: XCTestCase {
    private let app = TestApp()

    private func options(_ more: String) {
        app.file = #"{"serverUrl":"https://host/api","# + more + "}"
    }

    func testALaunchBeginsOneRoundAfterTheFirstFrame() throws {
        try app.launch()
        app.threads.pass(5_000)
        XCTAssertEqual(app.checks, 0, "before the frame")
        app.draw()
        app.draw()
        app.leave()
        app.threads.pass(3_600_000)
        app.enter()
        XCTAssertEqual(app.checks, 1, "once a launch")
    }

    func testTheFirstSyncTakesTheRoundOfTheLaunch() throws {
        app.server.offer = Update.number(1)
        try app.launch().draw()
        XCTAssertTrue(app.call("sync").contains(#""status":"staged""#))
        XCTAssertEqual(app.checks, 1)
        _ = app.call("sync")
        XCTAssertEqual(app.checks, 2, "the second asks")
    }

    func testAnOldOrFailedRoundOfTheLaunchIsNotTaken() throws {
        try app.launch().draw()
        app.threads.pass(60_000)
        _ = app.call("sync")
        XCTAssertEqual(app.checks, 2)
        app.server.isAway = true
        try app.launch().draw()
        app.server.isAway = false
        XCTAssertEqual(app.call("sync"), #"{"status":"none"}"#)
    }

    func testASyncBeforeTheFrameWaitsForIt() throws {
        try app.launch()
        let answers = app.begin("sync")
        app.threads.settle()
        XCTAssertEqual(app.checks, 0)
        app.draw()
        XCTAssertEqual(answers.texts, [#"{"status":"none"}"#])
        XCTAssertEqual(app.checks, 1, "one round for both")
    }

    func testAFrameThatNeverComesDelaysSyncForTenSeconds() throws {
        try app.launch()
        let answers = app.begin("sync")
        app.threads.pass(9_999)
        XCTAssertEqual(answers.texts.count, 0)
        app.threads.pass(1)
        XCTAssertEqual(answers.texts.count, 1)
    }

    func testWithoutAWindowSyncBeginsAtOnce() throws {
        try app.launch(window: false, .explained)
        app.threads.settle()
        XCTAssertEqual(app.checks, 0)
        XCTAssertEqual(app.call("sync"), #"{"status":"none"}"#)
    }

    func testResumeRepeatsTheRoundAtEachReturn() throws {
        options(#""checkOn":"resume""#)
        try app.launch().draw()
        XCTAssertEqual(app.checks, 1, "at the launch")
        app.threads.pass(59_000)
        app.leave()
        app.enter()
        XCTAssertEqual(app.checks, 1, "within a minute")
        app.threads.pass(1_000)
        app.enter()
        XCTAssertEqual(app.checks, 1, "it did not leave")
        app.leave()
        XCTAssertEqual(app.checks, 1, "not in the background")
        app.enter()
        XCTAssertEqual(app.checks, 2, "after a minute")
        app.leave()
        app.enter()
        XCTAssertEqual(app.checks, 2, "once a minute")
    }

    func testManualBeginsNothingByItself() throws {
        options(#""checkOn":"manual""#)
        try app.launch()
        _ = app.call("sync")
        XCTAssertEqual(app.checks, 1, "not delayed by the frame")
        app.draw()
        app.leave()
        app.threads.pass(3_600_000)
        app.enter()
        XCTAssertEqual(app.checks, 1)
    }

    func testCallsOfOneKindAreOneRoundAndKindsTakeTurns() throws {
        app.server.offer = Update.number(1)
        options(#""checkOn":"manual""#)
        try app.launch()
        let kinds = ["check", "download", "sync", "sync"].map { app.begin($0) }
        app.threads.settle()
        let size = Update.number(1).bytes.count
        let update = #","update":{"buildNumber":"101","id":"update_1","sha256":"\#(Update.number(1).sha256)","#
            + #""size":\#(size),"version":"1.0.0"}}"#
        let statuses = ["available", "downloaded", "staged", "staged"]
        XCTAssertEqual(kinds.map(\.texts), statuses.map { [#"{"status":"\#($0)""# + update] })
        XCTAssertEqual(app.checks, 3)
        XCTAssertEqual(app.server.downloads.count, 1)
    }

    func testAFailureReachesAllWhoWait() throws {
        app.server.isAway = true
        try app.launch()
        let first = app.begin("sync")
        let second = app.begin("sync")
        app.draw()
        XCTAssertEqual(first.texts, ["network: the server cannot be reached: connection refused"])
        XCTAssertEqual(second.texts, first.texts)
        app.server.isAway = false
        XCTAssertEqual(app.call("sync"), #"{"status":"none"}"#, "the next begins anew")
    }

    func testOtherSettingsAreNotJoined() throws {
        options(#""checkOn":"manual""#)
        try app.launch()
        let before = app.begin("sync")
        app.threads.settleWithoutRounds()
        let configured = app.begin("configure", #"{"configuration":"beta"}"#)
        let after = app.begin("sync")
        app.threads.settle()
        XCTAssertEqual(configured.texts, ["{}"])
        XCTAssertEqual([before.texts.count, after.texts.count], [1, 1])
        XCTAssertEqual(app.checks, 2)
        XCTAssertTrue(app.server.requests.last?.url.contains("configuration=beta") ?? false)
    }

    func testAnUpdateIsReportedStepByStep() throws {
        app.server.offer = Update.number(1)
        try app.launch().draw()
        let size = Update.number(1).bytes.count
        let steps = ["updateAvailable update_1", "downloadProgress update_1 \(size) \(size)", "downloadComplete update_1"]
        XCTAssertEqual(app.events, steps + ["nextSet update_1"])
        app.forgetEvents()
        _ = app.call("sync")
        _ = app.call("sync")
        XCTAssertEqual(app.events, ["appReady null", "updateAvailable update_1"], "nothing is new")
    }

    func testADownloadIsNotSetAsNext() throws {
        app.server.offer = Update.number(1)
        options(#""checkOn":"manual""#)
        try app.launch()
        _ = app.call("download")
        XCTAssertFalse(app.events.contains("nextSet update_1"))
        XCTAssertEqual(app.call("getNext"), #"{"update":null}"#)
        XCTAssertTrue(app.call("next", #"{"id":"update_1"}"#).hasPrefix(#"{"update":{"#))
        XCTAssertTrue(app.events.contains("nextSet update_1"))
        XCTAssertTrue(app.call("getNext").contains("update_1"))
    }

    func testAFailedDownloadIsAnEvent() throws {
        app.server.offer = Update.number(1)
        app.server.troubles = Array(repeating: .breaks(0), count: 4)
        try app.launch()
        let answers = app.begin("sync")
        app.draw()
        let message = "the download was interrupted: connection reset"
        XCTAssertEqual(answers.texts, ["network: \(message)"])
        XCTAssertTrue(app.events.contains("downloadFailed network \(message) update_1"))
    }

    func testAFaultyPackageIsQuarantined() throws {
        app.server.offer = Update(id: "update_1", build: 101, bytes: SmallZip.of([("index.html", "x"), ("a.so", "x")]))
        try app.launch()
        let answers = app.begin("sync")
        app.draw()
        XCTAssertTrue(answers.texts[0].hasPrefix("badPackage: "), answers.texts[0])
        XCTAssertTrue(app.call("sync").hasPrefix(#"{"status":"quarantined","update":{"#))
        XCTAssertTrue(app.call("check").hasPrefix(#"{"status":"quarantined","update":{"#), "by a check, too")
        XCTAssertTrue(app.call("getFailedUpdate").contains(#""id":"update_1""#))
    }

    func testAStoreUpdateIsAnEvent() throws {
        // Scripts of older engines cannot read all characters of JSON.
        let reason = "line\nquote\" \u{2028} \u{1f600}"
        var answer = Update.number(1).answer
        answer["requiresStoreUpdate"] = .bool(true)
        answer["compatibilityReason"] = .text(reason)
        app.server.says = JsonWriter.ascii(.object(answer))
        try app.launch().draw()
        let expected = JsonWriter.ascii(.object(["status": .text("storeUpdateRequired"), "reason": .text(reason)]))
        XCTAssertFalse(expected.contains("\u{2028}"))
        XCTAssertEqual(["check", "sync", "download"].map { app.call($0) }, [expected, expected, expected])
        XCTAssertEqual(app.events.first, "storeUpdateRequired \(reason)")
    }

    func testAMeteredConnectionWaitsForWifi() throws {
        app.server.offer = Update.number(1)
        app.server.isMetered = true
        options(#""wifiOnly":true"#)
        try app.launch().draw()
        XCTAssertTrue(app.call("sync").hasPrefix(#"{"status":"waitsForWifi","update":{"#))
        XCTAssertEqual(app.call("configure", #"{"wifiOnly":false}"#), "{}")
        XCTAssertTrue(app.call("sync").hasPrefix(#"{"status":"staged""#))
    }

    func testTheBytesThatRunAreCurrent() throws {
        try app.tryUpdate().draw()
        app.server.offer = Update(id: "update_9", build: 109, bytes: Update.number(1).bytes)
        app.threads.pass(60_000)
        XCTAssertTrue(app.call("sync").hasPrefix(#"{"status":"current","update":{"#))
        XCTAssertTrue(app.call("current").contains(#""updateId":"update_9""#))
    }

    func testProgressComesAtMostTenTimesASecond() throws {
        var passed = 0
        let callbacks = ManualThreads.ManualWorker()
        let events = Events(callbacks)
        _ = events.add { _ in passed += 1 }
        let progress = RoundEvents(app.threads.timer, events).listener
        for _ in 0..<1_000 {
            progress.arrived(1)
            app.threads.pass(1)
        }
        while callbacks.runOne() {}
        XCTAssertEqual(passed, 10)
    }
}
