// Times of metadata.
import XCTest

@testable import LaunchwayCore

final class MetadataTimeTests: XCTestCase {
    func testTimesAreReadInWholeSeconds() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1000), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-11-20T10:00:00Z", 1_795_168_800_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ]
        for (text, time) in cases {
            XCTAssertEqual(MetadataTime.parse(text), time, text)
        }
    }

    func testEveryDayFollowsTheOneBefore() throws {
        var expected = try XCTUnwrap(MetadataTime.parse("1895-12-31T00:00:00Z"))
        for year in 1896..<2110 {
            for month in 101...112 {
                for day in 101...131 {
                    let text = "\(year)-\(String(month).dropFirst())-\(String(day).dropFirst())T00:00:00Z"
                    if let time = MetadataTime.parse(text) {
                        expected += 24 * 60 * 60 * 1000
                        XCTAssertEqual(time, expected)
                    }
                }
            }
        }
    }

    func testOtherTextsAreNoTimes() {
        let texts = [
            "", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20T10:00:00.000Z", "2026-11-20t10:00:00Z",
            "2026-11-20 10:00:00Z", "2026-11-20T10:00:00+00:00", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
            "2026-11-20T10:60:00Z", "2026-11-20T10:00:60Z", "2026-11-20T10:00:00Z\n", "-026-11-20T10:00:00Z",
            "\u{662}026-11-20T10:00:00Z", "12026-11-20T10:00:00Z",
        ]
        for text in texts {
            XCTAssertNil(MetadataTime.parse(text), text)
        }
    }
}
