// Files that were changed, cut, exchanged or written by an attacker are refused as a whole, and what was trusted stays.
import XCTest

@testable import LaunchwayCore

final class HostileMetadataTests: XCTestCase {
    private let now = TestRepository.now
    private var repository = TestRepository()

    private func outcome() throws -> String {
        repository.served.renew(try repository.open(), now)
    }

    func testWhatWasSignedIsTaken() throws {
        let client = try repository.open()
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        XCTAssertEqual(TestRepository.offer(client, at: now), "accepted")
    }

    func testFilesThatEndTooEarlyAreRefused() throws {
        for (name, file) in repository.served.files where name != "1.root.json" {
            let role = name.split(separator: ".").dropLast().last.map(String.init) ?? ""
            for count in stride(from: 0, to: file.count, by: 29) {
                repository.served.files[name] = Array(file.prefix(count))
                XCTAssertEqual(try outcome(), "\(role) malformed", "\(count) bytes")
            }
            repository.served.files[name] = file
        }
    }

    func testChangedBytesAreNeverTrusted() throws {
        var random = SeededRandom(seed: 7)
        let files = repository.served.files
        let signed = Set(
            try files.values.map { file in
                JsonWriter.canonical(try JsonReader.read(file, limit: 1 << 16)["signed"] ?? .null)
            })
        let names = files.keys.filter { $0 != "1.root.json" }.sorted()
        let letters = Array("{}[]\",:0129afz \\\u{7f}".utf8) + [0xff]
        for _ in 0..<150 {
            let name = try XCTUnwrap(names.randomElement(using: &random))
            var changed = try XCTUnwrap(files[name])
            let at = Int.random(in: 0..<changed.count, using: &random)
            changed[at] = try XCTUnwrap(letters.randomElement(using: &random))
            repository.served.files = files
            repository.served.files[name] = changed
            let client = try repository.open()
            let outcome = repository.served.renew(client, now)
            let role = name.split(separator: ".").dropLast().last ?? ""
            XCTAssertTrue(outcome == "accepted" || outcome.hasPrefix("\(role) "), "\(name): \(outcome)")
            let trusted = client.trusted
            let messages = [
                trusted.timestamp?.message, trusted.snapshot?.message, trusted.targets?.message,
                trusted.roles["c-production"]?.message,
            ]
            XCTAssertTrue(messages.compactMap { $0 }.allSatisfy(signed.contains), "only signed content")
        }
    }

    /// Each is spelled into a file that verifies, before a signature could matter.
    func testFormsThatClientsCouldReadDifferentlyAreRefused() throws {
        let file = String(decoding: try XCTUnwrap(repository.served.files["timestamp.json"]), as: UTF8.self)
        let changes = [
            "\"version\":1,\"version\":2", "\"version\":1,\"\\u0076ersion\":1", "\"version\":1.0", "\"version\":1e0",
            "\"version\":01", "\"version\":-1", "\"version\":0", "\"version\":9007199254740992", "\"version\":\"1\"",
            "\"version\":18446744073709551617", "\"version\":" + String(repeating: "9", count: 3000), "\"version\":null",
            "\"version\":1,\"x\":\"\\ud800\"", "\"version\":1,\"x\":" + String(repeating: "[", count: 31),
            "\"version\":1,\"x\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
            "\"version\":1,\"x\":\"" + String(repeating: "x", count: 4096) + "\"", "\"version\":1,", "\"version\":NaN",
        ]
        for change in changes {
            let start = try XCTUnwrap(file.range(of: "\"spec_version\""))
            let member = try XCTUnwrap(file.range(of: "\"version\":1", range: start.lowerBound..<file.endIndex))
            repository.publish(Utf8.encode(file.replacingCharacters(in: member, with: change)), as: "timestamp.json")
            XCTAssertEqual(try outcome(), "timestamp malformed", String(change.prefix(60)))
        }
        repository.publish(Utf8.encode("\u{feff}" + file), as: "timestamp.json")
        XCTAssertEqual(try outcome(), "timestamp malformed", "a byte order mark")
    }

    func testSignedContentMayNestAsDeepAsJsonMay() throws {
        // The file and `signed` are the first two levels.
        for (depth, expected) in [(30, "accepted"), (31, "c-production malformed")] {
            let nested = (0..<depth).reduce(JsonValue.null) { value, _ in .array([value]) }
            let role = repository.role("c-production", version: 1) { $0["x"] = nested }
            repository.publish(role, as: "1.c-production.json")
            XCTAssertEqual(try outcome(), expected)
        }
    }

    func testFilesOfOtherRolesAreRefused() throws {
        let files = repository.served.files
        let exchanged = [
            ("timestamp.json", "1.snapshot.json", "timestamp malformed"),
            ("1.snapshot.json", "timestamp.json", "snapshot malformed"),
            ("1.targets.json", "1.snapshot.json", "targets malformed"),
            ("1.targets.json", "1.c-production.json", "targets other-content"),
            ("1.c-production.json", "1.targets.json", "c-production other-content"),
            ("2.root.json", "1.targets.json", "root malformed"), ("2.root.json", "1.root.json", "root other-version"),
        ]
        for (name, other, expected) in exchanged {
            repository.served.files = files
            repository.served.files[name] = files[other]
            XCTAssertEqual(try outcome(), expected, "\(other) as \(name)")
        }
        repository.served.files = files
        repository.publish(repository.role("c-other", version: 1), as: "1.c-production.json")
        XCTAssertEqual(try outcome(), "c-production other-content", "another role of the same key")
    }

    func testTheLargestVersionsDoNotOverflow() throws {
        let largest = JsonValue.maxInteger
        let root = repository.root(version: largest)
        repository.publish(repository.timestamp(version: largest, snapshot: largest), as: "timestamp.json")
        repository.publish(
            repository.snapshot(version: largest, targets: largest, role: largest), as: "\(largest).snapshot.json")
        repository.publish(repository.targets(version: largest), as: "\(largest).targets.json")
        repository.publish(repository.role("c-production", version: largest), as: "\(largest).c-production.json")
        let client = try repository.open(root: root)
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        let stored = try StoredTrust.parse(client.storedTrust.toJson())
        XCTAssertEqual(try repository.open(root: root, stored: stored).rootVersion, largest)
    }

    /// In Swift, the two ids are equal as strings.
    func testKeyIdsAreTheSameOnlyByTheirBytes() throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let second = TestSigner()
        let both: JsonMembers = ["keyids": .texts([composed, decomposed]), "threshold": .integer(2)]
        let signers = [(id: composed, key: repository.updates), (id: decomposed, key: second)]
        for (other, expected) in [(second, "accepted"), (repository.updates, "c-production too-few-signatures")] {
            let keys: JsonMembers = [composed: repository.updates.listed, decomposed: other.listed]
            repository.publish(repository.targets(version: 1, keys: keys, delegated: both), as: "1.targets.json")
            let signed = [signers[0], (id: decomposed, key: other)]
            repository.publish(repository.role("c-production", version: 1, signers: signed), as: "1.c-production.json")
            XCTAssertEqual(try outcome(), expected)
        }
        let swapped = [(id: decomposed, key: repository.updates), (id: composed, key: second)]
        let keys: JsonMembers = [composed: repository.updates.listed, decomposed: second.listed]
        repository.publish(repository.targets(version: 1, keys: keys, delegated: both), as: "1.targets.json")
        repository.publish(repository.role("c-production", version: 1, signers: swapped), as: "1.c-production.json")
        XCTAssertEqual(try outcome(), "c-production too-few-signatures", "each signature is of the other key")
    }

    func testAThresholdThatNobodyReachesRefusesEverything() throws {
        let most: JsonMembers = ["keyids": .texts(["u"]), "threshold": .integer(JsonValue.maxInteger)]
        repository.publish(repository.targets(version: 1, delegated: most), as: "1.targets.json")
        XCTAssertEqual(try outcome(), "c-production too-few-signatures")
    }

    func testAStoredFileOfKeysThatWereReplacedIsNotTrusted() throws {
        let client = try repository.open()
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        let stored = try StoredTrust.parse(client.storedTrust.toJson())
        let successor = TestSigner()
        repository.publish(repository.targets(version: 2, keys: ["u": successor.listed]), as: "2.targets.json")
        repository.publish(repository.snapshot(version: 2, targets: 2), as: "2.snapshot.json")
        repository.publish(repository.timestamp(version: 2, snapshot: 2), as: "timestamp.json")
        let later = try repository.open(stored: stored)
        XCTAssertEqual(repository.served.renew(later, now), "c-production too-few-signatures")
        XCTAssertEqual(TestRepository.offer(later, at: now), "missing")
        let signed = repository.role("c-production", version: 1, signers: [("u", successor)])
        repository.publish(signed, as: "1.c-production.json")
        XCTAssertEqual(repository.served.renew(later, now), "accepted")
        XCTAssertEqual(TestRepository.offer(later, at: now), "accepted")
    }
}
