// What the SDK notes of the life of an app: the foreground, by the system's notifications, and crashes, by signals.
import Foundation
import UIKit
import XCTest

@testable import LaunchwayApple
@testable import LaunchwayCore

final class AppLifeTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func start(crash: String? = nil) -> Session {
        let facts = AppFacts(
            binary: Binary(code: "1", name: "1.0.0", installedAt: 1), bundleId: "com.example.app", entryFile: "index.html",
            fingerprint: nil, trustFile: nil)
        return Session.start(facts, settings: nil, folder: folder, metering: { true }, hasWindow: true, crash: crash)
    }

    private func attempt() throws -> Attempt {
        try XCTUnwrap(StateFiles.loadAttempt(Folder(folder)))
    }

    func testTheForegroundIsNotedWhenTheSystemReportsIt() throws {
        let session = start()
        AppLifecycle.follow(session)
        XCTAssertTrue(try attempt().foreground)
        NotificationCenter.default.post(name: UIApplication.didEnterBackgroundNotification, object: nil)
        XCTAssertFalse(try attempt().foreground)
        NotificationCenter.default.post(name: UIApplication.didBecomeActiveNotification, object: nil)
        XCTAssertTrue(try attempt().foreground)
        NotificationCenter.default.post(name: UIApplication.willTerminateNotification, object: nil)
        XCTAssertFalse(try attempt().foreground)
    }

    func testACrashOfThePreviousProcessIsReportedWithItsStack() throws {
        // What still runs of the process that is dead must not hold its lock.
        try start().works().parts.device.close()
        _ = start(crash: "signal 11\nframe")
        let reports = try ReportQueue(Folder(folder)).waiting()
        XCTAssertEqual(reports.map(\.type), ["crash"])
        XCTAssertEqual(reports.first?.stack, "signal 11\nframe")
    }

    func testASignalLeavesAMarkerAndReachesThePreviousHandler() throws {
        signal(SIGFPE) { _ in AppLifeTests.previousHandlerRan = true }
        defer { signal(SIGFPE, SIG_DFL) }
        XCTAssertNil(CrashMarker.take(in: folder))
        CrashMarker.watch(in: folder)
        raise(SIGFPE)
        raise(SIGFPE)
        XCTAssertTrue(AppLifeTests.previousHandlerRan)
        let stack = try XCTUnwrap(CrashMarker.take(in: folder))
        XCTAssertTrue(stack.hasPrefix("signal 08\n"), stack)
        XCTAssertLessThanOrEqual(stack.utf8.count, 8 << 10)
        XCTAssertNil(CrashMarker.take(in: folder), "once")
    }

    private static var previousHandlerRan = false

    func testAProcessThatEndsWellLeavesNoMarker() {
        CrashMarker.watch(in: folder)
        XCTAssertNil(CrashMarker.take(in: folder))
    }
}
