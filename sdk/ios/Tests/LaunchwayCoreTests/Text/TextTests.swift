// Texts: their bytes, their order, and how they are encoded.
import XCTest

@testable import LaunchwayCore

final class TextTests: XCTestCase {
    func testOnlyStrictUtf8IsText() {
        XCTAssertEqual(Utf8.decode(Array("a\u{e9}\u{1f600}\0".utf8)), "a\u{e9}\u{1f600}\0")
        let refused: [[UInt8]] = [
            [0x80], [0xc0, 0x80], [0xc3], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff],
            [0x61, 0xc3, 0x61],
        ]
        for bytes in refused {
            XCTAssertNil(Utf8.decode(bytes), Hex.encode(bytes))
        }
    }

    func testTextsAreInTheOrderOfTheirBytes() {
        let rising = ["", "A", "K", "a", "e\u{301}", "\u{e9}", "\u{212a}", "\u{ffff}", "\u{10000}"]
        XCTAssertEqual(rising.shuffled().map(ExactText.init).sorted().map(\.text), rising)
        XCTAssertEqual(Set(rising.map(ExactText.init)).count, rising.count)
    }

    func testHexadecimalDigitsHaveOneSpelling() {
        XCTAssertEqual(Hex.encode([0, 0x9a, 0xff]), "009aff")
        XCTAssertEqual(Hex.decode("009aff"), [0, 0x9a, 0xff])
        XCTAssertEqual(Hex.decode(""), [])
        for text in ["0", "AA", "0g", " 0", "0x", "\u{ff11}\u{ff11}", "+1"] {
            XCTAssertNil(Hex.decode(text), text)
        }
    }

    func testEverythingButUnreservedCharactersIsEncoded() {
        XCTAssertEqual(PercentEncoding.encode("aZ09-._~"), "aZ09-._~")
        XCTAssertEqual(PercentEncoding.encode("a b/\u{e9}%\r\n"), "a%20b%2F%C3%A9%25%0D%0A")
    }

    func testTimesAreWrittenAndReadInMilliseconds() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (1_795_168_800_000, "2026-11-20T10:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ]
        for (time, text) in cases {
            XCTAssertEqual(IsoTime.write(time), text)
            XCTAssertEqual(IsoTime.read(text), time)
        }
        XCTAssertEqual(IsoTime.write(-1), "1970-01-01T00:00:00.000Z")
        XCTAssertEqual(IsoTime.write(.min), "1970-01-01T00:00:00.000Z")
        XCTAssertEqual(IsoTime.write(.max), "9999-12-31T23:59:59.999Z")
    }

    func testDaysOfAllCenturiesAreReadBack() {
        for day in stride(from: 0, to: 2_900_000, by: 97) {
            let time = day * 86_400_000 + day
            XCTAssertEqual(IsoTime.read(IsoTime.write(time)), time)
        }
    }

    func testOtherTextsAreNoTimes() {
        let texts = [
            "", "2026-11-20", "2026-11-20T10:00:00Z", "2026-11-20t10:00:00.000Z", "2026-11-20 10:00:00.000Z",
            "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00.000Z", "2026-02-29T00:00:00.000Z",
            "2026-11-20T24:00:00.000Z", "2026-11-20T10:60:00.000Z", "2026-11-20T10:00:60.000Z",
            "2026-11-20T10:00:00.000Z\n", "1969-12-31T23:59:59.999Z", "\u{662}026-11-20T10:00:00.000Z",
            "2026-11-20T10:00:00.000+", "2026-11-2\u{661}T10:00:00.00Z",
        ]
        for text in texts {
            XCTAssertNil(IsoTime.read(text), text)
        }
    }
}
