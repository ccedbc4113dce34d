// Downloads that are retried: how often, after which pause, and when for another address.
import XCTest

@testable import LaunchwayCore

final class RetryTests: XCTestCase {
    private let disk = MemoryDisk()
    private lazy var phone = Phone(disk)
    private let server = FakeServer(Update.number(1))
    private lazy var part = "tmp/\(Update.number(1).sha256).part"

    /// The outcome of a round, or the message of its error.
    private func sync() throws -> String {
        let device = try phone.process(server)
        _ = device.start()
        do {
            return try device.sync().text
        } catch let error as SyncError {
            return error.message
        }
    }

    func testItContinuesInAnotherProcessAndAtAnotherAddress() throws {
        server.troubles = [.breaks(100), .breaks(0), .breaks(0), .breaks(0)]
        XCTAssertEqual(try sync(), "the download was interrupted: connection reset")
        XCTAssertEqual(disk.files[part]?.count, 100)
        XCTAssertEqual(phone.clock.pauses.map { $0 / 1000 }, [1, 4, 16], "the first try made progress")
        var elsewhere = Update.number(1).answer
        elsewhere["url"] = .text("https://elsewhere/package?signature=2")
        server.says = JsonWriter.plain(.object(elsewhere))
        XCTAssertEqual(try sync(), "staged update_1")
        XCTAssertEqual(server.downloads.last?.url, "https://elsewhere/package?signature=2")
        XCTAssertEqual(server.downloads.last?.headers["range"], "bytes=100-")
    }

    func testWrongBytesAreNeverInstalledAndReportedOnce() throws {
        server.troubles = [.garbled, .garbled]
        let message = "the server does not send the package: its bytes have a different digest"
        XCTAssertEqual(try sync(), message)
        XCTAssertNil(disk.files[part])
        XCTAssertEqual(server.reports, ["failed update_1 \(message)"])
        XCTAssertEqual(try phone.process(server).start(), .embedded)
        XCTAssertEqual(try phone.process(server).failed()?.reason, message)
    }

    func testAnExpiredAddressIsReplacedTwice() throws {
        server.troubles = [.breaks(100), .status(403), .status(404)]
        XCTAssertEqual(try sync(), "staged update_1")
        XCTAssertEqual(server.downloads.last?.headers["range"], "bytes=100-")
        server.offer = Update.number(2)
        server.troubles = Array(repeating: .status(410), count: 50)
        let downloads = server.downloads.count
        XCTAssertEqual(try sync(), "the address has expired (the server responded with status 410)")
        XCTAssertEqual(server.downloads.count, downloads + 3)
        XCTAssertEqual(server.troubles.count, 47)
    }

    func testAServerThatOnlyFailsIsLeftAloneAfterFourTries() throws {
        for status in [429, 503] {
            server.troubles = Array(repeating: .status(status), count: 50)
            XCTAssertEqual(try sync(), "the server responded with status \(status)")
            XCTAssertEqual(server.troubles.count, 46)
        }
        server.troubles = [.status(409)]
        XCTAssertEqual(try sync(), "the server responded with status 409")
    }

    func testAFullPhoneAsksForNoByte() throws {
        disk.free = 8 << 20
        XCTAssertTrue(try sync().hasPrefix("the package needs "))
        XCTAssertEqual(server.downloads.count, 0)
        disk.free = 1 << 30
        XCTAssertEqual(try sync(), "staged update_1")
        XCTAssertNil(try phone.process(server).failed(), "it was installed after all")
    }

    func testAMeteredConnectionWaitsWhereTheAppWantsThat() throws {
        phone.settings.wifiOnly = true
        server.isMetered = true
        XCTAssertEqual(try sync(), "waitsForWifi update_1")
        server.isMetered = false
        XCTAssertEqual(try sync(), "staged update_1")
    }

    func testOnlyOnePartialFileTakesRoom() throws {
        server.troubles = [.breaks(100)] + Array(repeating: .status(503), count: 3)
        _ = try sync()
        server.offer = Update.number(2)
        server.troubles = [.breaks(50)] + Array(repeating: .status(503), count: 4)
        _ = try sync()
        let left = disk.files(below: "tmp").keys
        XCTAssertFalse(left.isEmpty)
        XCTAssertTrue(left.allSatisfy { $0.hasPrefix("tmp/\(Update.number(2).sha256)") }, "\(left)")
    }
}
