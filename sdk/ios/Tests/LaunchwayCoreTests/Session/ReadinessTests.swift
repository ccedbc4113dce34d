// When content has proved itself, what happens when it does not, and what is noted of its life.
import XCTest

@testable import LaunchwayCore

final class ReadinessTests: XCTestCase {
    private let app = TestApp()

    func testASyncAndAFrameConfirm() throws {
        try app.tryUpdate()
        XCTAssertTrue(try app.boot().trial)
        _ = app.begin("sync")
        app.threads.settleWithoutRounds()
        XCTAssertTrue(try app.boot().trial, "no frame yet")
        app.draw()
        XCTAssertFalse(try app.boot().trial)
        XCTAssertEqual(app.events, ["updateApplied update_1", "appReady update_1", "noUpdateAvailable"])
        XCTAssertTrue(app.server.reports.contains("confirmed update_1"))
    }

    func testAFrameWithoutSyncDoesNotConfirm() throws {
        try app.tryUpdate().draw()
        app.threads.pass(10_000)
        _ = app.call("check")
        _ = app.call("download")
        XCTAssertTrue(try app.boot().trial, "only sync counts")
        _ = app.call("sync")
        XCTAssertFalse(try app.boot().trial)
    }

    func testInTheBackgroundNothingConfirmsByItself() throws {
        try app.tryUpdate()
        app.leave()
        app.draw()
        _ = app.call("sync")
        XCTAssertTrue(try app.boot().trial, "nobody sees it")
        app.enter()
        XCTAssertFalse(try app.boot().trial)
    }

    func testInManualModeOnlyTheAppConfirms() throws {
        app.file = #"{"serverUrl":"https://host/api","readyMode":"manual"}"#
        try app.tryUpdate().draw()
        _ = app.call("sync")
        XCTAssertTrue(try app.boot().trial)
        XCTAssertEqual(app.call("notifyAppReady"), #"{"confirmed":true}"#)
        XCTAssertFalse(try app.boot().trial)
        XCTAssertEqual(app.call("notifyAppReady"), #"{"confirmed":false}"#, "again")
        XCTAssertEqual(app.events, ["updateApplied update_1", "noUpdateAvailable", "appReady update_1"])
    }

    func testTheEmbeddedAppIsReadyAsWell() throws {
        try app.launch().draw()
        XCTAssertEqual(app.events, ["noUpdateAvailable"])
        _ = app.call("sync")
        XCTAssertEqual(app.events, ["noUpdateAvailable", "appReady null"])
        XCTAssertEqual(app.call("notifyAppReady"), #"{"confirmed":false}"#)
    }

    func testAConfirmationDoesNotWaitForARound() throws {
        try app.tryUpdate()
        _ = app.begin("sync")
        app.session.onFirstFrame()
        app.threads.settleWithoutRounds()
        XCTAssertFalse(try app.boot().trial, "confirmed before the server is asked")
        XCTAssertEqual(app.checks, 1)
    }

    func testWhatStandsInConfirmsNothing() throws {
        try app.tryUpdate()
        let before = app.disk
        var standIns = 0
        for call in 2...400 {
            let process = TestApp()
            process.server.offer = Update.number(1)
            process.take(before)
            try process.launch(window: true, .explained, failAt: call)
            let isOver = (process.disk.callsUntilFailure ?? 0) > 0
            let standsIn = process.folder == nil
            process.draw()
            let answer = process.call("notifyAppReady")
            if standsIn {
                standIns += 1
                XCTAssertNotEqual(answer, #"{"confirmed":true}"#, "call \(call)")
                XCTAssertTrue(try process.boot().trial, "call \(call)")
            }
            if isOver {
                XCTAssertGreaterThan(standIns, 0, "some starts stand in")
                return
            }
        }
        XCTFail("a start makes fewer calls")
    }

    func testContentThatIsNotShownConfirmsNothing() throws {
        try app.tryUpdate()
        app.session.onOtherContent()
        XCTAssertEqual(app.call("notifyAppReady"), #"{"confirmed":false}"#)
        app.session.onCrash(stack: "at other.js:1")
        app.threads.pass(60_000)
        app.leave()
        XCTAssertTrue(try app.boot().trial, "the trial continues")
        let attempt = try app.attempt()
        XCTAssertFalse(attempt.crashed || attempt.hung, "it is not to blame")
    }

    func testTheWatchdogCountsTheForegroundOnly() throws {
        try app.tryUpdate()
        app.threads.pass(15_000)
        app.leave()
        app.threads.pass(3_600_000)
        XCTAssertFalse(try app.attempt().hung, "nobody waits")
        app.enter()
        app.threads.pass(4_999)
        XCTAssertFalse(try app.attempt().hung, "not yet")
        app.threads.pass(1)
        XCTAssertTrue(try app.attempt().hung, "20 seconds in the foreground")
    }

    func testTheWatchdogEndsWithTheConfirmation() throws {
        try app.tryUpdate()
        app.threads.pass(19_999)
        _ = app.call("notifyAppReady")
        app.threads.pass(60_000)
        XCTAssertFalse(try app.attempt().hung)
    }

    func testTheWatchdogTakesTheTimeThatWasSet() throws {
        try app.tryUpdate()
        app.threads.pass(2_000)
        XCTAssertEqual(app.call("configure", #"{"readyTimeoutMs":5000}"#), "{}")
        app.threads.pass(2_999)
        XCTAssertFalse(try app.attempt().hung, "not yet")
        app.threads.pass(1)
        XCTAssertTrue(try app.attempt().hung, "5 seconds")
    }

    func testOnlyATrialIsWatched() throws {
        try app.launch()
        app.threads.pass(60_000)
        XCTAssertFalse(try app.attempt().hung, "the embedded app is never judged")
    }

    func testAHungTrialGivesWay() throws {
        try app.tryUpdate()
        app.threads.pass(20_000)
        try app.launch()
        XCTAssertNil(app.folder)
        XCTAssertEqual(app.events, ["rolledBack hung update_1", "updateApplied null"])
    }

    func testTenSecondsSettle() throws {
        try app.launch()
        app.threads.pass(9_999)
        XCTAssertFalse(try app.attempt().settled, "not yet")
        app.threads.pass(1)
        XCTAssertTrue(try app.attempt().settled)
    }

    func testTheForegroundIsNotedBeforeTheCallReturns() throws {
        try app.tryUpdate()
        XCTAssertTrue(try app.attempt().foreground, "it has a window")
        app.session.onBackground()
        XCTAssertFalse(try app.attempt().foreground)
        app.session.onForeground()
        XCTAssertTrue(try app.attempt().foreground)
    }

    func testAStartWithoutAWindowGetsOneLater() throws {
        try app.launch(window: false, .explained)
        app.threads.settle()
        XCTAssertFalse(try app.attempt().window)
        app.enter()
        XCTAssertTrue(try app.attempt().window && app.attempt().foreground)
    }

    func testACrashIsNotedBeforeTheCallReturns() throws {
        try app.tryUpdate()
        app.session.onCrash(stack: "at app.js:1")
        XCTAssertTrue(try app.attempt().crashed)
        try app.launch()
        XCTAssertEqual(try app.boot().current, .embedded)
        XCTAssertTrue(try app.boot().quarantine.contains(Update.number(1).sha256))
        app.draw()
        XCTAssertTrue(app.server.reports.contains("crash update_1"))
    }

    func testTwoUnexplainedDeathsInTheForegroundRollBack() throws {
        try app.tryUpdate()
        try app.launch(window: true, .unexplained)
        XCTAssertEqual(app.folder, TestApp.folder(1), "one is forgiven")
        app.session.onBackground()
        try app.launch(window: true, .unexplained)
        XCTAssertEqual(app.folder, TestApp.folder(1), "it was in the background")
        try app.launch(window: true, .unexplained)
        XCTAssertNil(app.folder)
    }
}
