// Answers of one trip: long chains of roots, files that are left out, and texts that are no answer.
import XCTest

@testable import LaunchwayCore

final class OneTripTests: XCTestCase {
    private let now = TestRepository.now
    private var repository = TestRepository()

    /// The answer with what is served, and the roots from this version on.
    private func answer(roots first: Int, without name: String? = nil) throws -> TrustAnswer {
        let text = { (name: String) in JsonValue.text(String(decoding: self.served(name), as: UTF8.self)) }
        var members: JsonMembers = [
            "timestamp": text("timestamp.json"), "snapshot": text("1.snapshot.json"), "targets": text("1.targets.json"),
            "delegated": .object(["c-production": text("1.c-production.json")]), "later": .null,
        ]
        let roots = (first..<first + 16).map { "\($0).root.json" }.filter { repository.served.files[$0] != nil }
        members["roots"] = .array(roots.map(text))
        if let name = name {
            members[name] = nil
        }
        return try TrustAnswer.parse(Utf8.encode(JsonWriter.plain(.object(members))))
    }

    private func served(_ name: String) -> [UInt8] {
        repository.served.files[name] ?? []
    }

    private func progress(_ client: TrustClient, _ answer: TrustAnswer) throws -> Refresh.Progress {
        try client.refresh(now: now).takeAnswer(answer)
    }

    func testAfter16RootsTheClientAsksAgain() throws {
        for version in 2...18 {
            repository.publish(repository.root(version: version), as: "\(version).root.json")
        }
        let client = try repository.open()
        XCTAssertEqual(try progress(client, answer(roots: 2)), .askAgain)
        XCTAssertEqual(client.rootVersion, 17)
        XCTAssertEqual(client.snapshotVersion, 0, "nothing else is taken before the last root")
        XCTAssertEqual(try progress(client, answer(roots: 18)), .done)
        XCTAssertEqual(client.rootVersion, 18)
        XCTAssertEqual(TestRepository.offer(client, at: now), "accepted")
    }

    func testAFileThatTheAnswerLacksIsFetchedByItsName() throws {
        let files = [
            ("timestamp", "timestamp.json"), ("snapshot", "1.snapshot.json"), ("targets", "1.targets.json"),
            ("delegated", "1.c-production.json"),
        ]
        for (member, name) in files {
            let client = try repository.open()
            let refresh = client.refresh(now: now)
            let answer = try answer(roots: 2, without: member)
            XCTAssertEqual(try refresh.takeAnswer(answer), .lacksFile)
            XCTAssertEqual(try refresh.nextRequest()?.fileName, name)
            XCTAssertTrue(try refresh.take(served(name)))
            XCTAssertEqual(try refresh.takeAnswer(answer), .done)
            XCTAssertEqual(TestRepository.offer(client, at: now), "accepted")
        }
    }

    func testTextsThatAreNoAnswerAreRefused() {
        let deep = String(repeating: "[", count: 40)
        let texts = [
            "", "[]", "null", "{\"roots\":{}}", "{\"roots\":[1]}", "{\"timestamp\":{}}", "{\"snapshot\":null}",
            "{\"delegated\":[]}", "{\"delegated\":{\"c-production\":1}}", "{\"x\":\(deep)",
            "{\"targets\":\"\",\"targets\":\"\"}",
            "{\"x\":\"" + String(repeating: "x", count: TrustAnswer.maxBytes) + "\"}",
        ]
        for text in texts {
            XCTAssertThrowsError(try TrustAnswer.parse(Utf8.encode(text)), String(text.prefix(60)))
        }
    }

    func testARunTakesAtMost256Roots() throws {
        for version in 2...260 {
            repository.publish(repository.root(version: version), as: "\(version).root.json")
        }
        let client = try repository.open()
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        XCTAssertEqual(client.rootVersion, 257)
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        XCTAssertEqual(client.rootVersion, 260)
    }
}
