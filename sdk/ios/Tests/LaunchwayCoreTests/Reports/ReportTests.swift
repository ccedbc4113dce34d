// Reports wait until the server accepts them.
import XCTest

@testable import LaunchwayCore

final class ReportTests: XCTestCase {
    private let disk = MemoryDisk()
    private let server = FakeServer()
    private lazy var queue = ReportQueue(disk)

    private func report(_ type: String, _ update: String) -> Report {
        Report(type, update, at: 1_795_255_200_000)
    }

    private func send(_ updates: String...) throws -> Int {
        let tokens = updates.map { ReportToken(updateId: $0, token: "token") }
        return try ReportSender.send(queue, over: server, to: "https://host/api/update/report/com.example.app", tokens)
    }

    private func waiting() throws -> [String] {
        try queue.waiting().map { "\($0.type) \($0.updateId)" }
    }

    func testEachUpdateAndTypeWaitsOnceAndGoesOnce() throws {
        try queue.add([report("installed", "a"), report("confirmed", "a"), report("installed", "b")])
        try queue.add([report("installed", "a")])
        XCTAssertEqual(try waiting(), ["installed a", "confirmed a", "installed b"])
        XCTAssertEqual(try send("a"), 2)
        XCTAssertEqual(try waiting(), ["installed b"], "no token, no report")
        XCTAssertEqual(try send("a", "b"), 1)
        XCTAssertEqual(server.reports, ["installed a", "confirmed a", "installed b"])
        XCTAssertEqual(try waiting(), [])
    }

    func testAServerThatCannotTakeThemNowGetsThemLater() throws {
        for status in [401, 408, 429, 500, 503] {
            try queue.add([report("installed", "a")])
            server.reportStatus = status
            XCTAssertEqual(try send("a"), 0, "\(status)")
            server.reportStatus = 200
            XCTAssertEqual(try send("a"), 1, "\(status)")
        }
        try queue.add([report("installed", "a")])
        server.isAway = true
        XCTAssertEqual(try send("a"), 0)
        XCTAssertEqual(try waiting(), ["installed a"])
    }

    func testWhatAServerWillNeverTakeDoesNotStay() throws {
        try queue.add([report("crash", "a"), report("installed", "a")])
        server.reportStatus = 400
        XCTAssertEqual(try send("a"), 0)
        XCTAssertEqual(try waiting(), [])
        XCTAssertEqual(server.requests.count, 3, "both together, then each for itself")
    }

    func testARefusedTokenKeepsTheReportsOfItsUpdateOnly() throws {
        try queue.add([report("installed", "a"), report("installed", "b")])
        server.reportStatus = 401
        XCTAssertEqual(try send("a", "b"), 0)
        XCTAssertEqual(server.requests.count, 2, "the other update has another token")
        XCTAssertEqual(try waiting(), ["installed a", "installed b"])
    }

    func testATokenThatIsRefusedAmongSingleReportsDropsNone() throws {
        try queue.add([report("crash", "a"), report("installed", "a"), report("confirmed", "a")])
        server.reportStatuses = [400, 200, 401]
        XCTAssertEqual(try send("a"), 1)
        XCTAssertEqual(try waiting(), ["installed a", "confirmed a"])
        XCTAssertEqual(server.requests.count, 3, "no further one with that token")
    }

    func testTheOldestLeaveWhenThereAreTooMany() throws {
        try queue.add((0..<ReportQueue.maxReports + 5).map { report("installed", String($0)) })
        let left = try waiting()
        XCTAssertEqual(left.count, ReportQueue.maxReports)
        XCTAssertEqual(left.first, "installed 5")
    }

    func testManyReportsGoInSeveralRequests() throws {
        try queue.add((0..<120).map { report("type \($0)", "a") })
        XCTAssertEqual(try send("a"), 120)
        XCTAssertEqual(server.requests.count, 3)
    }

    func testHostileReasonsAndStacksAreBounded() throws {
        let reason = String(repeating: "\u{1f600}\0\"\n\r\n", count: 100)
        let stack = String(repeating: "é\u{1}", count: 8 << 10)
        try queue.add([Report("crash", "a", at: 0, reason: reason, stack: stack)])
        let report = try XCTUnwrap(queue.waiting().first)
        XCTAssertEqual(report.reason?.unicodeScalars.count, 200)
        let bytes = try XCTUnwrap(report.stack).utf8.count
        XCTAssertTrue(bytes <= 8 << 10 && bytes > 8 << 10 - 4, "\(bytes)")
    }

    func testDamagedLinesAreLeftOut() throws {
        try queue.add([report("installed", "a"), report("confirmed", "a")])
        var bytes = try XCTUnwrap(disk.files["events.jsonl"])
        let line = try XCTUnwrap(bytes.firstIndex(of: 10))
        bytes.replaceSubrange(line...line, with: Array("\n{\"type\":\n".utf8) + [0xff, 0xfe] + Array("\nnull\n".utf8))
        disk.put("events.jsonl", bytes)
        XCTAssertEqual(try waiting(), ["installed a", "confirmed a"])
        disk.put("events.jsonl", [UInt8](repeating: 10, count: 13 << 20))
        XCTAssertEqual(try waiting(), [], "a file that is too long was not written here")
    }

    func testIdsWithOtherBytesAreOtherUpdates() throws {
        try queue.add([report("installed", "é"), report("installed", "e\u{301}")])
        XCTAssertEqual(try queue.waiting().count, 2)
    }
}
