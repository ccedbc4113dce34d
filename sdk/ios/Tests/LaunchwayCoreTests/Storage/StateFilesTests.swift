// The state files have the JSON that all clients share, and whatever else is there counts as corrupt.
import XCTest

@testable import LaunchwayCore

final class StateFilesTests: XCTestCase {
    private let temporary = TemporaryFolder()
    private let digests = ["a", "b", "c"].map { Sha256.of(Utf8.encode($0)) }

    private func example() -> State {
        var boot = BootState(binary: Binary(code: "7", name: "1.2.0", installedAt: 5))
        boot.current = .slot(digests[0])
        boot.trial = true
        boot.next = digests[1]
        boot.quarantine = [digests[2]]
        boot.soft = 1
        boot.judged = 3
        var state = State(boot: boot, deviceId: "0f")
        state.slots = [
            SlotRecord(id: digests[0], updateId: "u1", version: "1.3.0", buildNumber: "8", manifest: digests[1])
        ]
        state.tokens = [ReportToken(updateId: "u1", token: "\"t\n")]
        state.trust = TrustRecord(refreshedAt: 9, stored: "{}")
        state.failed = FailedUpdate(
            updateId: "u0", version: "1.2.5", buildNumber: "6", sha256: digests[2], reason: "crashed")
        return state
    }

    /// As `crates/device` and the Java core write it.
    private func exampleText() -> String {
        let slot = digests.map { $0.hex }
        return """
            {"binary":{"code":"7","installedAt":5,"name":"1.2.0"},"current":"\(slot[0])","deviceId":"0f","earlyCrashes":0,\
            "failed":{"buildNumber":"6","reason":"crashed","sha256":"\(slot[2])","updateId":"u0","version":"1.2.5"},"form":1,\
            "hard":0,"judged":3,"lastGood":"embedded","next":"\(slot[1])","quarantine":["\(slot[2])"],\
            "slots":[{"buildNumber":"8","id":"\(slot[0])","manifest":"\(slot[1])","updateId":"u1","version":"1.3.0"}],"soft":1,\
            "tokens":[{"token":"\\"t\\n","updateId":"u1"}],"trial":true,"trust":{"refreshedAt":9,"stored":"{}"}}
            """
    }

    private func text(_ folder: Folder, _ path: String) throws -> String? {
        try WholeFiles.read(folder, path, max: 10_000).flatMap(Utf8.decode)
    }

    private func load(_ text: String) throws -> Found<State> {
        let folder = try temporary.open()
        try WholeFiles.replace(folder, "state.json", Utf8.encode(text))
        return try StateFiles.loadState(folder)
    }

    func testAStateHasTheTextOfEveryClient() throws {
        let folder = try temporary.open()
        try StateFiles.saveState(folder, example())
        XCTAssertEqual(try text(folder, "state.json"), exampleText())
        XCTAssertEqual(try StateFiles.loadState(folder).content, example())
        let fresh = State.ofNewPhone(Binary(code: "7", name: "", installedAt: 0), deviceId: "0f")
        try StateFiles.saveState(folder, fresh)
        XCTAssertEqual(try StateFiles.loadState(folder).content, fresh)
    }

    func testWhatOlderAndNewerClientsWriteIsRead() throws {
        let older = exampleText().replacingOccurrences(of: "\"failed\":{", with: "\"unknown\":{")
        var expected = example()
        expected.failed = nil
        XCTAssertEqual(try load(older).content, expected)
    }

    func testEveryOtherTextIsCorrupt() throws {
        let whole = exampleText()
        let changes = [
            ("\"form\":1", "\"form\":2"), ("\"trial\":true,", ""), ("\"soft\":1", "\"soft\":4294967296"),
            ("\"soft\":1", "\"soft\":-1"), ("\"judged\":3", "\"judged\":9007199254740991"), ("\"embedded\"", "\"other\""),
            ("\"quarantine\":[\"", "\"quarantine\":[\"0"), ("\"trust\":{", "\"trust\":[{"), ("\"failed\":{", "\"failed\":{{"),
            ("\"updateId\":\"u0\"", "\"updateId\":0"), ("\"next\":\"", "\"next\":\"x"),
        ]
        for (old, new) in changes {
            let changed = whole.replacingOccurrences(of: old, with: new)
            XCTAssertNotEqual(changed, whole)
            XCTAssert(try load(changed).isCorrupt, new)
        }
        for length in stride(from: 0, to: whole.utf8.count, by: 7) {
            XCTAssert(try load(String(whole.prefix(length))).isCorrupt, "\(length)")
        }
    }

    func testAMissingStateIsNoCorruptOne() throws {
        let folder = try temporary.open()
        let found = try StateFiles.loadState(folder)
        XCTAssertNil(found.content)
        XCTAssertFalse(found.isCorrupt)
        XCTAssertNil(try StateFiles.loadAttempt(folder))
    }

    func testACorruptStateIsSetAside() throws {
        let folder = try temporary.open()
        try WholeFiles.replace(folder, "state.json", [0xff])
        XCTAssert(try StateFiles.loadState(folder).isCorrupt)
        try StateFiles.setStateAside(folder)
        XCTAssertFalse(try StateFiles.loadState(folder).isCorrupt)
        XCTAssertEqual(try folder.list(""), ["state.json.corrupt"])
    }

    func testAFolderInPlaceOfAStateIsCorrupt() throws {
        let folder = try temporary.open()
        try folder.makeFolder("state.json")
        XCTAssert(try StateFiles.loadState(folder).isCorrupt)
    }

    func testAStorageThatFailsIsNoCorruptState() throws {
        let mortal = MortalStorage(try temporary.open(), changes: 0)
        XCTAssertThrowsError(try StateFiles.saveState(mortal, example()))
        XCTAssertThrowsError(try StateFiles.loadState(mortal)) { XCTAssertEqual($0 as? StorageError, MortalStorage.death) }
    }

    func testAnAttemptHasTheTextOfEveryClient() throws {
        let folder = try temporary.open()
        var attempt = Attempt(number: 4, content: .slot(digests[0]), window: true)
        attempt.leaveForeground()
        attempt.settled = true
        try StateFiles.saveAttempt(folder, attempt)
        let text = "{\"content\":\"\(digests[0])\",\"crashed\":false,\"foreground\":false,\"form\":1,\"hung\":false,"
            + "\"number\":4,\"settled\":true,\"window\":true}"
        XCTAssertEqual(try self.text(folder, "boot.json"), text)
        XCTAssertEqual(try StateFiles.loadAttempt(folder), attempt)
        try WholeFiles.replace(folder, "boot.json", Utf8.encode(text.replacingOccurrences(of: ":4", with: ":-4")))
        XCTAssertNil(try StateFiles.loadAttempt(folder))
    }

    func testTheOldestTokenLeavesFirst() {
        var state = example()
        state.tokens = []
        for number in 0..<20 {
            state.keepToken(ReportToken(updateId: "u\(number)", token: "old"))
        }
        state.keepToken(ReportToken(updateId: "u10", token: "new"))
        XCTAssertEqual(state.tokens.count, 16)
        XCTAssertEqual(state.tokens.first?.updateId, "u4")
        XCTAssertEqual(state.tokens.last, ReportToken(updateId: "u10", token: "new"))
        XCTAssertEqual(state.tokens.filter { $0.updateId == "u10" }.count, 1)
    }

    func testContentIsNamedByItsUpdate() {
        XCTAssertEqual(example().updateId(.slot(digests[0])), "u1")
        XCTAssertEqual(example().updateId(.slot(digests[1])), "embedded:7")
        XCTAssertEqual(example().updateId(.embedded), "embedded:7")
    }
}
