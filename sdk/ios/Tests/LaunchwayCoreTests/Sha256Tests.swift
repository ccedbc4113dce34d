// Digests: computed at once and piece by piece, and read from one spelling only.
import XCTest

@testable import LaunchwayCore

final class Sha256Tests: XCTestCase {
    private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    func testKnownBytesHaveTheirDigest() {
        XCTAssertEqual(Sha256.of(Utf8.encode("abc")).hex, abc)
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        XCTAssertEqual(Sha256.of([]).hex, empty)
    }

    func testPiecesHaveTheDigestOfTheWhole() {
        var hash = Sha256Hash()
        hash.update(Utf8.encode("a"))
        hash.update(Utf8.encode("xbcx")[1...2])
        hash.update([])
        XCTAssertEqual(hash.finish().hex, abc)
    }

    func testOnlyOneSpellingIsRead() {
        XCTAssertEqual(Sha256(abc)?.hex, abc)
        XCTAssertNil(Sha256(abc.uppercased()))
        XCTAssertNil(Sha256(String(abc.dropLast())))
        XCTAssertNil(Sha256(abc + "00"))
        XCTAssertNil(Sha256(String(repeating: "\u{ff11}", count: 64)))
        XCTAssertNil(Sha256(bytes: [1, 2]))
    }
}
