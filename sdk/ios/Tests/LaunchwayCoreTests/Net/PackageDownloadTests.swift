// Downloads from a server that disconnects, lies and changes.
import XCTest

@testable import LaunchwayCore

final class PackageDownloadTests: XCTestCase {
    private let disk = MemoryDisk()
    private let update = Update.number(1)
    private lazy var server = FakeServer(update)
    private lazy var part = "tmp/\(update.sha256).part"

    /// One try. Returns the error's message, or nothing for the whole package.
    private func fetch(_ progress: PackageDownload.Progress = { _ in }) -> String? {
        let download = PackageDownload(disk, server, update.sha256, size: update.bytes.count)
        do {
            let path = try download.run(from: "https://storage/package", progress: progress)
            XCTAssertEqual(disk.files[path], update.bytes)
            return nil
        } catch {
            return errorMessage(error)
        }
    }

    private var ranges: [String?] {
        server.requests.map { $0.headers["range"] }
    }

    func testABrokenDownloadContinuesWhereItStopped() {
        server.troubles = [.breaks(100), .breaks(50)]
        var arrived: [Int] = []
        XCTAssertEqual(fetch { arrived.append($0) }, "the download was interrupted: connection reset")
        XCTAssertNotNil(fetch { arrived.append($0) })
        XCTAssertNil(fetch { arrived.append($0) })
        XCTAssertEqual(ranges, [nil, "bytes=100-", "bytes=150-"])
        XCTAssertEqual(server.requests[1].headers["if-range"], "\"\(update.sha256)\"")
        XCTAssertEqual(server.requests[0].headers["accept-encoding"], "identity")
        XCTAssertEqual(arrived.prefix(2), [100, 150])
        XCTAssertEqual(arrived.last, update.bytes.count)
    }

    func testEveryAnswerToARangeEndsWithThePackage() {
        let answers: [FakeServer.Trouble] = [
            .whole, .shifted, .garbled, .encoded, .endless, .noEtag, .status(416), .status(403), .status(503),
        ]
        for answer in answers {
            disk.put(part, [])
            server.troubles = [.breaks(100), answer]
            _ = fetch()
            _ = fetch()
            XCTAssertTrue(fetch() == nil || fetch() == nil, "\(answer)")
            try? disk.removeFile(part)
        }
    }

    func testARangeThatBeginsElsewhereIsNotWritten() {
        server.troubles = [.breaks(100), .shifted]
        var arrived: [Int] = []
        _ = fetch { arrived.append($0) }
        XCTAssertEqual(
            fetch { arrived.append($0) }, "the server does not send the package: its range is not the requested one")
        XCTAssertEqual(arrived, [100])
    }

    func testBytesWithoutAValidatorBeginAgain() {
        disk.put(part, Array(update.bytes.prefix(100)))
        XCTAssertNil(fetch())
        XCTAssertEqual(ranges, [nil])
    }

    func testAWeakOrDamagedValidatorIsNotSent() {
        for etag in ["W/\"a\"", "\"a b\"", "\"\"", "\"a\r\n\"", "a", String(repeating: "\"", count: 300)] {
            disk.put(part, Array(update.bytes.prefix(100)))
            disk.put("tmp/\(update.sha256).etag", Utf8.encode(etag))
            XCTAssertNil(fetch(), etag)
        }
        XCTAssertEqual(ranges, Array(repeating: nil, count: 6))
    }

    func testAWholeFileIsNotDownloadedAgain() {
        disk.put(part, update.bytes)
        XCTAssertNil(fetch())
        XCTAssertEqual(server.requests.count, 0)
    }

    func testWrongBytesAreThrownAway() {
        disk.put(part, [UInt8](repeating: 0, count: update.bytes.count))
        XCTAssertEqual(fetch(), "the server does not send the package: its bytes have a different digest")
        XCTAssertNil(disk.files[part])
        disk.put(part, [UInt8](repeating: 0, count: update.bytes.count + 1))
        XCTAssertNil(fetch())
    }

    func testBytesWithoutEndStopAtTheAnnouncedSize() {
        server.troubles = [.endless]
        var most = 0
        XCTAssertEqual(fetch { most = $0 }, "the server does not send the package: it has more bytes than announced")
        XCTAssertLessThanOrEqual(most, update.bytes.count)
        XCTAssertNil(disk.files[part])
    }

    func testAFullPhoneIsNoticedBeforeARequest() {
        disk.free = 8 << 20
        XCTAssertEqual(
            fetch(), "the package needs \(update.bytes.count + (8 << 20)) bytes, and \(8 << 20) are free")
        XCTAssertEqual(server.requests.count, 0)
    }

    func testNoFailureOfTheStorageIsTakenForOneOfTheNetwork() throws {
        let download = PackageDownload(disk, server, update.sha256, size: update.bytes.count)
        var failures = 0
        while failures < 100 {
            disk.callsUntilFailure = failures + 1
            do {
                _ = try download.run(from: "https://storage/package") { _ in }
                break
            } catch is StorageError {
                failures += 1
            }
        }
        XCTAssertGreaterThan(failures, 8)
        XCTAssertLessThan(failures, 100, "it continues when the storage works again")
    }

    func testRangesOfOtherFormsAreRefused() {
        let good = ContentRange.parse("bytes 5-9/10")
        XCTAssertEqual(good?.start, 5)
        XCTAssertEqual(good?.whole, 10)
        XCTAssertNil(ContentRange.parse("bytes 5-9/*")?.whole)
        let refused = [
            nil, "", "bytes", "bytes */10", "bytes 5-4/10", "bytes -5-9/10", "items 5-9/10", "bytes 5-9", "bytes 5/9-10",
            "bytes 5-9/10, bytes 5-9/10", "bytes 5-9/+10", "bytes 9999999999999999999-9999999999999999999/*", "bytes 5-9/",
        ]
        for range in refused {
            XCTAssertNil(ContentRange.parse(range), range ?? "nil")
        }
    }
}
