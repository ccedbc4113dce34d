// An app can download an update first and choose later, sees what is installed, and learns what failed.
import XCTest

@testable import LaunchwayCore

final class ChoicesTests: XCTestCase {
    private let disk = MemoryDisk()
    private lazy var phone = Phone(disk)
    private let server = FakeServer(Update.number(1))

    /// A device on which an update is installed and confirmed.
    private func device(with update: Update) throws -> Device {
        server.offer = update
        let device = try phone.process(server)
        _ = device.start()
        XCTAssertEqual(try device.sync().text, "staged \(update.id)")
        XCTAssertEqual(device.start(), update.content)
        XCTAssertTrue(try device.confirm())
        return device
    }

    private func ids(_ device: Device) throws -> [String] {
        try device.list().map(\.updateId)
    }

    func testADownloadedUpdateWaitsUntilItIsChosen() throws {
        let device = try phone.process(server)
        _ = device.start()
        XCTAssertEqual(try device.download().text, "downloaded update_1")
        XCTAssertEqual(device.start(), .embedded)
        XCTAssertEqual(try device.download().text, "downloaded update_1", "again")
        XCTAssertEqual(server.downloads.count, 1)
        XCTAssertEqual(server.reports, ["downloaded update_1"])
        XCTAssertEqual(try ids(device), ["update_1"])
        XCTAssertEqual(try device.next("update_1")?.updateId, "update_1")
        XCTAssertEqual(device.start(), Update.number(1).content)
    }

    func testARoundAfterADownloadMakesItNext() throws {
        let device = try phone.process(server)
        _ = device.start()
        _ = try device.download()
        XCTAssertEqual(try device.sync().text, "staged update_1")
        XCTAssertEqual(server.downloads.count, 1)
        XCTAssertEqual(device.start(), Update.number(1).content)
    }

    func testTheNewestDownloadStaysHoweverManyAreNeeded() throws {
        let device = try device(with: Update.number(1))
        server.offer = Update.number(2)
        _ = try device.sync()
        _ = device.start()
        _ = try device.confirm()
        server.offer = Update.number(3)
        _ = try device.download()
        server.offer = nil
        _ = try device.sync()
        XCTAssertEqual(try ids(device), ["update_1", "update_2", "update_3"])
        XCTAssertNotNil(try device.next("update_3"))
        XCTAssertEqual(device.start(), Update.number(3).content)
        _ = try device.confirm()
        _ = try device.sync()
        XCTAssertEqual(try ids(device), ["update_2", "update_3"])
    }

    func testOnlyWholePackagesCanBeChosen() throws {
        let device = try device(with: Update.number(1))
        server.offer = Update.number(2)
        _ = try device.download()
        XCTAssertNil(try device.next("update_9"))
        XCTAssertNil(try device.next("embedded:1"))
        try disk.removeFile("slots/\(Update.number(2).sha256)/.complete")
        XCTAssertNil(try device.next("update_2"))
        XCTAssertEqual(try ids(device), ["update_1"])
        XCTAssertEqual(device.start(), Update.number(1).content)
    }

    func testWhatFailedCannotBeChosenAgain() throws {
        let device = try device(with: Update.number(1))
        server.offer = Update.number(2)
        _ = try device.sync()
        _ = device.start()
        try device.markCrash(stack: "at app.js:1")
        XCTAssertEqual(device.start(Phone.launch(.crash)).content, Update.number(1).content)
        XCTAssertNil(try device.next("update_2"))
        let failed = try device.failed()
        XCTAssertEqual([failed?.updateId, failed?.version, failed?.buildNumber], ["update_2", "1.0.0", "102"])
        XCTAssertEqual(failed?.reason, "crashed")
        XCTAssertEqual(failed?.sha256, Update.number(2).sha256)
        _ = device.start(Phone.launch(code: "2"))
        XCTAssertNil(try device.failed(), "another binary")
        XCTAssertEqual(try ids(device), [])
    }

    func testAnAppThatNeverStartedHasNothing() throws {
        let device = try phone.process(server)
        XCTAssertEqual(try ids(device), [])
        XCTAssertNil(try device.failed())
        XCTAssertThrowsError(try device.next("update_1")) {
            XCTAssertEqual(($0 as? SyncError)?.message, "the app has not started yet")
        }
    }
}
