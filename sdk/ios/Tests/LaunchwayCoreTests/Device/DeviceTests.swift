// Whole days of a phone, with its reports, and the states in which it may be.
import XCTest

@testable import LaunchwayCore

final class DeviceTests: XCTestCase {
    private let disk = MemoryDisk()
    private lazy var phone = Phone(disk)
    private let server = FakeServer(Update.number(1))

    private func process<Value>(_ body: (Device) throws -> Value) throws -> Value {
        try body(phone.process(server))
    }

    /// The first update runs and is good.
    private func installFirst() throws {
        try process { device in
            _ = device.start()
            XCTAssertEqual(try device.sync().text, "staged update_1")
            XCTAssertEqual(device.start(), Update.number(1).content)
            XCTAssertTrue(try device.confirm())
            XCTAssertEqual(try device.sync().text, "nothing")
        }
    }

    func testABadUpdateIsRolledBackReportedAndFollowed() throws {
        try installFirst()
        server.offer = Update.number(2)
        try process { device in
            _ = device.start()
            XCTAssertFalse(try device.confirm(), "once is enough")
            XCTAssertEqual(try device.sync().text, "staged update_2")
        }
        try process { device in
            XCTAssertEqual(device.start(), Update.number(2).content)
            try device.markCrash(stack: "TypeError at app.js:1")
        }
        try process { device in
            let outcome = device.start(Phone.launch(.unexplained))
            XCTAssertEqual(outcome.content, Update.number(1).content)
            XCTAssertEqual(outcome.previous, Update.number(2).content)
            XCTAssertEqual(outcome.events.map(\.kind), [.crash, .rolledBack])
            XCTAssertEqual(try device.sync().text, "quarantined update_2")
            server.offer = Update.number(3)
            XCTAssertEqual(try device.sync().text, "staged update_3")
        }
        try process { device in
            XCTAssertEqual(device.start(), Update.number(3).content)
            XCTAssertTrue(try device.confirm())
            XCTAssertEqual(try device.sync().text, "nothing")
            XCTAssertEqual(try device.status()?.reports, 0)
        }
        let expected = [
            "downloaded update_1", "installed update_1", "confirmed update_1", "downloaded update_2", "installed update_2",
            "crash update_2", "rolled_back update_2 crashed", "downloaded update_3", "installed update_3",
            "confirmed update_3",
        ]
        XCTAssertEqual(server.reports.sorted(), expected.sorted())
        XCTAssertTrue(disk.files(below: "slots/\(Update.number(2).sha256)").isEmpty, "the bad package leaves the disk")
    }

    func testWhatStandsInForATrialConfirmsNothing() throws {
        try installFirst()
        server.offer = Update.number(2)
        try process { device in
            _ = device.start()
            XCTAssertEqual(try device.sync().text, "staged update_2")
            XCTAssertEqual(device.start(), Update.number(2).content)
        }
        var standIns = 0
        for call in 2...400 {
            let failing = disk.copy()
            failing.callsUntilFailure = call
            failing.failsOnce = true
            let device = try Phone(failing).process(server)
            let outcome = device.start(Phone.launch(.unexplained))
            let isOver = (failing.callsUntilFailure ?? 0) > 0
            if outcome.content != Update.number(2).content {
                standIns += 1
                let before = failing.files["boot.json"]
                XCTAssertFalse(try device.confirm(), "call \(call)")
                try device.mark(.hang)
                try device.markCrash(stack: "at app.js:1")
                XCTAssertEqual(failing.files["boot.json"], before, "call \(call)")
                XCTAssertEqual(try device.status()?.state.boot.trial, true, "call \(call)")
            }
            if isOver {
                XCTAssertGreaterThan(standIns, 2, "some starts stand in")
                return
            }
        }
        XCTFail("a start makes fewer calls")
    }

    func testASecondProcessFollowsAndChangesNothing() throws {
        try process { main in
            _ = main.start()
            _ = try main.sync()
            let content = main.start()
            let before = disk.files["boot.json"]
            let other = try phone.process(server)
            XCTAssertTrue(main.isMain && !other.isMain)
            XCTAssertEqual(other.start(), content)
            XCTAssertFalse(try other.confirm())
            try other.mark(.hang)
            try other.markCrash(stack: nil)
            try other.reset()
            XCTAssertThrowsError(try other.sync()) { XCTAssertEqual(($0 as? SyncError)?.message, SyncError.notMain.message) }
            XCTAssertThrowsError(try other.next("update_1"))
            XCTAssertEqual(disk.files["boot.json"], before)
            XCTAssertTrue(try main.confirm())
        }
        XCTAssertTrue(try phone.process(server).isMain, "the lock ends with its process")
    }

    func testACorruptStateStartsTheEmbeddedApp() throws {
        for text in ["", "{", "null", "{\"form\":2}", "{\"form\":1}", "\u{feff}{}", String(repeating: "[", count: 100_000)] {
            try installFirst()
            disk.put("state.json", Utf8.encode(text))
            let before = disk.files
            try process { device in
                let started = device.start(Phone.launch())
                XCTAssertEqual(started.content, .embedded)
                XCTAssertNotNil(started.problem)
                XCTAssertFalse(started.isRecorded)
                XCTAssertEqual(disk.files, before)
                XCTAssertThrowsError(try device.sync())
                XCTAssertEqual(device.start(), .embedded)
                XCTAssertEqual(try device.sync().text, "staged update_1")
                XCTAssertEqual(device.start(), Update.number(1).content)
                try device.reset()
                _ = device.start()
                _ = try device.sync()
            }
            try? disk.removeFile("state.json")
        }
    }

    func testStorageThatFailsAtAnyCallChangesNothingOfTheState() throws {
        try installFirst()
        let whole = disk.files
        for call in 1...200 {
            disk.callsUntilFailure = call
            let started = try? phone.process(server).start(Phone.launch())
            XCTAssertTrue(started?.content ?? .embedded == .embedded || started?.content == Update.number(1).content)
            let isDone = (disk.callsUntilFailure ?? 0) > 0
            disk.callsUntilFailure = nil
            XCTAssertEqual(disk.files["state.json"], whole["state.json"], "call \(call)")
            XCTAssertEqual(try phone.process(server).start(), Update.number(1).content, "call \(call)")
            if isDone {
                XCTAssertGreaterThan(call, 5)
                return
            }
        }
        XCTFail("a start makes fewer calls")
    }

    func testANewStoreBinaryDropsWhatWasInstalled() throws {
        try installFirst()
        server.offer = nil
        try process { device in
            let id = try device.status()?.state.deviceId
            XCTAssertEqual(device.start(Phone.launch(code: "2")).content, .embedded)
            _ = try? device.sync()
            XCTAssertEqual(try device.status()?.state.deviceId, id)
            XCTAssertEqual(try device.list(), [])
        }
        let check = server.requests.last { $0.url.contains("/update/check/") }
        XCTAssertTrue(check?.url.contains("currentBuild=2&currentUpdateId=embedded%3A2") ?? false)
    }

    func testTheSameBytesUnderANewNumberAreNotDownloadedAgain() throws {
        try installFirst()
        server.offer = Update(id: "update_9", build: 109, bytes: Update.number(1).bytes)
        let before = server.downloads.count
        try process { device in
            _ = device.start()
            XCTAssertEqual(try device.sync().text, "sameBytes update_9")
            XCTAssertEqual(device.start(), Update.number(1).content)
            XCTAssertEqual(try device.sync().text, "nothing")
        }
        XCTAssertEqual(server.downloads.count, before)
        XCTAssertEqual(server.reports.suffix(3), ["downloaded update_9", "installed update_9", "confirmed update_9"])
    }

    func testALieAboutTheFilesOfWhatRunsDoesNotRemoveIt() throws {
        try installFirst()
        var lie = Update.number(1).answer
        lie["buildNumber"] = .text("109")
        lie["manifest"] = .text(Sha256.of([]).hex)
        server.says = JsonWriter.plain(.object(lie))
        let before = disk.files(below: "slots")
        try process { device in
            _ = device.start()
            XCTAssertThrowsError(try device.sync()) { error in
                guard case SyncError.install(.wrongFiles) = error else {
                    return XCTFail("\(error)")
                }
            }
            XCTAssertEqual(disk.files(below: "slots"), before)
            XCTAssertEqual(device.start(), Update.number(1).content)
        }
    }

    func testAPackageWithAFaultIsDownloadedOnceAndReported() throws {
        let files = [("index.html", "x"), ("lib.so", "x")]
        server.offer = Update(id: "update_1", build: 101, bytes: SmallZip.of(files))
        try process { device in
            _ = device.start()
            XCTAssertNil(try device.failed())
            XCTAssertThrowsError(try device.sync()) { error in
                XCTAssertEqual((error as? SyncError)?.message, (try? device.failed())?.reason)
            }
            XCTAssertEqual(try device.sync().text, "quarantined update_1")
            XCTAssertEqual(device.start(), .embedded)
        }
        XCTAssertEqual(server.downloads.count, 1)
        XCTAssertTrue(disk.files(below: "tmp").isEmpty)
    }

    func testMarksAreWrittenAtOnce() throws {
        try process { device in
            _ = device.start()
            try device.mark(.background)
            XCTAssertEqual(try device.status()?.attempt?.foreground, false)
            try device.mark(.foreground)
            try device.mark(.settled)
            try device.mark(.hang)
        }
        try process { device in
            let attempt = try device.status()?.attempt
            XCTAssertEqual([attempt?.foreground, attempt?.settled, attempt?.hung, attempt?.crashed], [true, true, true, false])
        }
    }
}
