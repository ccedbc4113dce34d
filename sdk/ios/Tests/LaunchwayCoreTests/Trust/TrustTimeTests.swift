// Clocks that are far off, and apps that nobody opened for years.
import XCTest

@testable import LaunchwayCore

final class TrustTimeTests: XCTestCase {
    private let now = TestRepository.now
    private let year = 365 * TestRepository.day
    private var repository = TestRepository()

    func testAClockThatIsAYearSlowCountsFromTheBuildOfTheApp() throws {
        let client = try repository.open()
        let time = TrustClient.now(deviceClock: now - year, appBuiltAt: now - TestRepository.day)
        XCTAssertEqual(time, now - TestRepository.day)
        XCTAssertEqual(repository.served.renew(client, time), "accepted")
        XCTAssertEqual(TestRepository.offer(client, at: time), "accepted")
    }

    func testAnAppThatWasBuiltLaterSeesAFreezeWithASlowClock() throws {
        let time = TrustClient.now(deviceClock: now - year, appBuiltAt: now + 8 * TestRepository.day)
        XCTAssertEqual(repository.served.renew(try repository.open(), time), "timestamp expired")
    }

    func testAClockThatIsAYearFastTakesNothingAndLosesNothing() throws {
        repository.publish(
            repository.role("c-production", version: 1) { $0["x-revoked"] = .texts([Sha256.of([9]).hex]) },
            as: "1.c-production.json")
        let client = try repository.open()
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        let stored = try StoredTrust.parse(client.storedTrust.toJson())
        let fast = try repository.open(stored: stored)
        XCTAssertEqual(repository.served.renew(fast, now + year), "root expired")
        XCTAssertEqual(TestRepository.offer(fast, at: now + year), "expired")
        XCTAssertEqual(fast.revokedPackages, [Sha256.of([9])], "what is revoked stays revoked")
        let corrected = try repository.open(stored: StoredTrust.parse(fast.storedTrust.toJson()))
        XCTAssertEqual(repository.served.renew(corrected, now), "accepted", "the clock is right again")
        XCTAssertEqual(TestRepository.offer(corrected, at: now), "accepted")
    }

    func testTimesAtTheEndsOfTheClockAreRefusedAndDoNotTrap() throws {
        XCTAssertEqual(repository.served.renew(try repository.open(), .max), "root expired")
        XCTAssertEqual(repository.served.renew(try repository.open(), .min), "accepted")
    }

    func testARootThatExpiredThreeYearsAgoRecoversThroughItsChain() throws {
        let old = repository.root(version: 1, lifetime: -3 * 365)
        repository.publish(repository.root(version: 2, lifetime: -2 * 365), as: "2.root.json")
        repository.publish(repository.root(version: 3, lifetime: -365), as: "3.root.json")
        let client = try repository.open(root: old)
        XCTAssertEqual(repository.served.renew(client, now), "root expired")
        XCTAssertEqual(client.rootVersion, 3, "an expired root is trusted as far as it leads to the next one")
        repository.publish(repository.root(version: 4), as: "4.root.json")
        let later = try repository.open(root: old, stored: StoredTrust.parse(client.storedTrust.toJson()))
        XCTAssertEqual(later.rootVersion, 3, "the chain goes on where it ended")
        XCTAssertEqual(repository.served.renew(later, now), "accepted")
        XCTAssertEqual(later.rootVersion, 4)
        XCTAssertEqual(TestRepository.offer(later, at: now), "accepted")
    }

    func testANewerAppKeepsTheStoredRootIfItsOwnIsInTheChain() throws {
        repository.publish(repository.root(version: 2), as: "2.root.json")
        repository.publish(repository.root(version: 3), as: "3.root.json")
        let client = try repository.open()
        XCTAssertEqual(repository.served.renew(client, now), "accepted")
        let stored = try StoredTrust.parse(client.storedTrust.toJson())
        let updated = try repository.open(root: repository.served.files["2.root.json"], stored: stored)
        XCTAssertEqual(updated.rootVersion, 3)
        XCTAssertEqual(updated.snapshotVersion, 1)
        let fork = try repository.open(root: repository.root(version: 2, lifetime: 50), stored: stored)
        XCTAssertEqual(fork.rootVersion, 2, "a root of the same version that the chain does not have")
    }
}
