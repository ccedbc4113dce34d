// What a start changed, and content that is switched while the app runs.
import XCTest

@testable import LaunchwayCore

final class SwitchingTests: XCTestCase {
    private let app = TestApp()

    private func apply(_ when: String) {
        app.file = #"{"serverUrl":"https://host/api","apply":"\#(when)"}"#
    }

    func testWhatAStartDidWaitsForTheFirstListener() throws {
        app.server.offer = Update.number(1)
        try app.launch().draw()
        try app.launch(window: true, .explained)
        app.threads.pass(5_000)
        XCTAssertEqual(app.events, [])
        app.listen()
        XCTAssertEqual(app.events, ["updateApplied update_1"])
        app.listen()
        XCTAssertEqual(app.events, ["updateApplied update_1"], "once")
    }

    func testARollBackWaitsAndOtherEventsDoNot() throws {
        try app.tryUpdate()
        app.session.onCrash(stack: nil)
        try app.launch(window: true, .crash)
        app.draw()
        app.listen()
        XCTAssertEqual(app.events, ["rolledBack crashed update_1", "updateApplied null"])
    }

    func testNobodyListensAfterTheEnd() throws {
        try app.launch()
        app.bridge.listen(nil)
        app.draw()
        XCTAssertEqual(app.events, [])
    }

    func testAnUpdateThatCannotRunIsAnEvent() throws {
        app.server.offer = Update.number(1)
        try app.launch().draw()
        try app.disk.removeFile("slots/\(Update.number(1).sha256)/app/index.html")
        try app.launch()
        XCTAssertEqual(app.events, ["updateFailed no_entry_file update_1"])
        XCTAssertNil(app.folder)
    }

    func testAReloadStartsTheNextContent() throws {
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch().draw()
        app.forgetEvents()
        XCTAssertEqual(app.call("reload"), "{}")
        XCTAssertEqual(app.switches, [TestApp.folder(1)])
        XCTAssertEqual(app.folder, TestApp.folder(1))
        XCTAssertEqual(app.events, ["updateApplied update_1"])
        XCTAssertTrue(app.call("current").contains(#""trial":true"#))
    }

    func testTheAnswerComesBeforeTheSwitch() throws {
        app.reloads = true
        try app.launch()
        let answers = app.begin("reload")
        while app.threads.tasks.runOne() {}
        app.threads.callbacks.runOne()
        XCTAssertEqual(answers.texts, ["{}"])
        XCTAssertEqual(app.switches, [])
        app.threads.settle()
        XCTAssertEqual(app.switches, ["embedded"])
    }

    func testAReloadIsNoFaultOfWhatRan() throws {
        app.reloads = true
        try app.tryUpdate()
        for _ in 0..<5 {
            XCTAssertEqual(app.call("reload"), "{}")
        }
        XCTAssertEqual(app.folder, TestApp.folder(1))
        let boot = try app.boot()
        XCTAssertEqual(boot.hard + boot.soft + boot.earlyCrashes, 0)
        XCTAssertTrue(boot.trial, "the trial continues")
    }

    func testWhatIsReloadedProvesItselfAnew() throws {
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch().draw()
        _ = app.call("sync")
        _ = app.call("reload")
        XCTAssertTrue(try app.boot().trial, "its own script has not called yet")
        _ = app.call("sync")
        XCTAssertFalse(try app.boot().trial)
    }

    func testWhatIsReloadedIsWatchedAnew() throws {
        app.reloads = true
        try app.tryUpdate()
        app.threads.pass(19_000)
        _ = app.call("reload")
        app.threads.pass(19_999)
        XCTAssertFalse(try app.attempt().hung, "a new attempt")
        app.threads.pass(1)
        XCTAssertTrue(try app.attempt().hung, "20 seconds")
        _ = app.call("reload")
        XCTAssertEqual(app.switches.last, "embedded", "it gives way")
    }

    func testAFrameworkThatCannotSaysSo() throws {
        app.server.offer = Update.number(1)
        try app.launch().draw()
        XCTAssertEqual(app.refusal("reload"), "reloadUnsupported")
        app.session.setSwitcher(nil)
        XCTAssertEqual(app.refusal("reload"), "reloadUnsupported")
        XCTAssertNil(app.folder)
        XCTAssertNotNil(try app.boot().next, "the next launch tries it")
    }

    func testImmediateSwitchesAfterTheDownload() throws {
        apply("immediate")
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch()
        let answers = app.begin("sync")
        app.draw()
        XCTAssertTrue(answers.texts[0].hasPrefix(#"{"status":"staged""#))
        XCTAssertEqual(app.switches, [TestApp.folder(1)])
    }

    func testImmediateLeavesItToTheNextLaunchWhereItMust() throws {
        apply("immediate")
        app.server.offer = Update.number(1)
        try app.launch().draw()
        XCTAssertEqual(app.switches, [])
        try app.launch()
        XCTAssertEqual(app.folder, TestApp.folder(1))
    }

    func testImmediateDoesNotSwitchInVainAgainAndAgain() throws {
        apply("immediate")
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch()
        app.session.onFirstFrame()
        for _ in 0..<5 {
            app.threads.settleWithoutRounds()
            app.threads.rounds.runOne()
            // What was installed is damaged before it starts.
            try app.disk.removeFile("slots/\(Update.number(1).sha256)/app/js/app.js")
            app.threads.settleWithoutRounds()
            _ = app.begin("sync")
        }
        XCTAssertEqual(app.switches, ["embedded"])
    }

    func testOnBackgroundSwitchesWhenTheAppLeaves() throws {
        apply("onBackground")
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch().draw()
        XCTAssertEqual(app.switches, [])
        app.leave()
        XCTAssertEqual(app.switches, [TestApp.folder(1)])
        XCTAssertTrue(try app.attempt().window && !app.attempt().foreground, "killed there, it is not to blame")
        app.enter()
        app.leave()
        XCTAssertEqual(app.switches.count, 1, "nothing new")
    }

    func testOnBackgroundSwitchesOnlyThere() throws {
        apply("onBackground")
        app.reloads = true
        app.server.offer = Update.number(1)
        try app.launch()
        app.session.onFirstFrame()
        app.threads.settleWithoutRounds()
        app.session.onBackground()
        app.session.onForeground()
        app.threads.settle()
        XCTAssertEqual(app.switches, [], "it returned")
        app.session.onBackground()
        app.threads.settle()
        XCTAssertEqual(app.switches, [TestApp.folder(1)])
    }

    func testAResetAndAReloadShowTheEmbeddedApp() throws {
        app.reloads = true
        try app.tryUpdate()
        _ = app.call("notifyAppReady")
        XCTAssertEqual(app.call("reset"), "{}")
        XCTAssertEqual(app.folder, TestApp.folder(1), "until the next start")
        XCTAssertEqual(app.call("reload"), "{}")
        XCTAssertNil(app.folder)
        XCTAssertEqual(app.switches, ["embedded"])
    }

    func testAnUnreadableStateDoesNotSwitch() throws {
        app.reloads = true
        try app.tryUpdate()
        app.disk.put("state.json", Utf8.encode("{"))
        XCTAssertEqual(app.refusal("reload"), "notStarted")
        XCTAssertEqual(app.folder, TestApp.folder(1))
        XCTAssertEqual(app.switches, [])
    }
}
