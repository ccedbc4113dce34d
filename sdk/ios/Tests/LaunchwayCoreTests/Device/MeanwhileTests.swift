// What an app does while a round runs is not lost when the round ends.
import XCTest

@testable import LaunchwayCore

/// Does something once, when a request arrives.
private final class TriggeredNetwork: Network {
    private let server: FakeServer
    private var part = ""
    private var action: (() throws -> Void)?

    init(_ server: FakeServer) {
        self.server = server
    }

    let isUnmetered = true

    func when(_ part: String, _ action: @escaping () throws -> Void) {
        self.part = part
        self.action = action
    }

    func send(_ request: Request) throws -> Response {
        if request.url.contains(part), let due = action {
            action = nil
            XCTAssertNoThrow(try due())
        }
        return try server.send(request)
    }
}

final class MeanwhileTests: XCTestCase {
    private let phone = Phone()
    private let server = FakeServer(Update.number(1))
    private lazy var network = TriggeredNetwork(server)

    /// Update 1 is on trial, and the server offers update 2.
    private func deviceOnTrial() throws -> Device {
        let device = try phone.process(network)
        _ = device.start()
        _ = try device.sync()
        XCTAssertEqual(device.start(), Update.number(1).content)
        server.offer = Update.number(2)
        return device
    }

    func testAConfirmationDuringADownloadStays() throws {
        let device = try deviceOnTrial()
        network.when("/package") { XCTAssertTrue(try device.confirm()) }
        XCTAssertEqual(try device.sync().text, "staged update_2")
        XCTAssertEqual(try device.status()?.state.boot.trial, false)
        _ = device.start()
        XCTAssertEqual(try device.status()?.state.boot.lastGood, Update.number(1).content)
    }

    func testAResetDuringADownloadStays() throws {
        let device = try deviceOnTrial()
        network.when("/package") { try device.reset() }
        _ = try device.sync()
        XCTAssertEqual(try device.status()?.state.boot.current, .embedded)
        XCTAssertEqual(try device.status()?.state.boot.next, Update.number(2).sha256)
    }

    func testASwitchDuringADownloadStays() throws {
        let device = try deviceOnTrial()
        _ = try device.download()
        server.offer = Update.number(3)
        network.when("/package") {
            _ = try device.next("update_2")
            XCTAssertEqual(device.start(), Update.number(2).content)
        }
        XCTAssertEqual(try device.sync().text, "staged update_3")
        XCTAssertEqual(try device.status()?.state.boot.current, Update.number(2).content)
        XCTAssertEqual(device.start(), Update.number(3).content)
    }

    func testACrashWhileReportsAreSentIsReportedLater() throws {
        let device = try deviceOnTrial()
        network.when("/update/report/") { try device.markCrash(stack: "at app.js:1") }
        _ = try device.sync()
        XCTAssertEqual(try device.status()?.reports, 1)
        XCTAssertFalse(server.reports.contains("crash update_1"), "it came too late")
        _ = try device.sync()
        XCTAssertTrue(server.reports.contains("crash update_1"))
    }

    func testSettingsOfNowAreThoseOfTheNextRound() throws {
        let device = try deviceOnTrial()
        let other = Settings(serverUrl: "https://host/api", bundleId: "com.example.other", version: "1.0.0")
        network.when("/update/check/") { device.configure(other) { _ in TrustInTheServer() } }
        _ = try device.sync()
        XCTAssertEqual(server.requests.last?.url, "https://host/api/update/report/com.example.app")
        _ = try device.check()
        XCTAssertTrue(server.requests.last?.url.contains("/update/check/com.example.other?") ?? false)
    }

    func testMarksDoNotWaitForARound() throws {
        let device = try deviceOnTrial()
        network.when("/package") {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do {
                    try device.mark(.background)
                    _ = try device.confirm()
                    _ = try device.list()
                } catch {
                    XCTFail("\(error)")
                }
                done.signal()
            }
            XCTAssertEqual(done.wait(timeout: .now() + 20), .success)
        }
        _ = try device.sync()
        XCTAssertEqual(try device.status()?.attempt?.foreground, false)
    }
}
