// Versions and build numbers are read and ordered as the reference says.
import XCTest

@testable import LaunchwayCore

final class VersionTests: XCTestCase {
    func testWhatTheReferenceAllowsIsRead() {
        let cases = [
            ("1", "1.0.0"), ("1.2", "1.2.0"), ("0", "0.0.0"), ("1.2.3", "1.2.3"), ("1.2.3+001.-", "1.2.3"),
            ("1.2.3-rc.1", "1.2.3-rc.1"), ("1.2.3-rc-1.0a+x-y.z", "1.2.3-rc-1.0a"), ("1.0.0--", "1.0.0--"),
            ("18446744073709551615.0.0", "18446744073709551615.0.0"),
            ("1.0.0-99999999999999999999999", "1.0.0-99999999999999999999999"),
        ]
        for (text, written) in cases {
            XCTAssertEqual(Version.parse(text)?.description, written, text)
        }
    }

    func testEverythingElseIsRefused() {
        let texts = [
            "", " ", "1.", ".1", "1..2", "1.2.3.", "1.2.3.4", "01", "1.02", "1.2.03", "v1.2.3", "1.2.3 ", " 1.2.3", "-1",
            "+1", "1.2.-3", "1-rc", "1.2-rc", "1+5", "1.2+5", "1.2.3-", "1.2.3+", "1.2.3-+5", "1.2.3-a..b", "1.2.3-01",
            "1.2.3-a.01", "1.2.3+a..b", "1.2.3+a+b", "1.2.3-a_b", "1.2.3-\u{e9}", "\u{661}.\u{662}.\u{663}", "1.2.x",
            "1,2,3", "1.2.3\n", "1.2.3\r\n", "18446744073709551616.0.0", "0.0.18446744073709551616", "1.0.0-a b",
            "1.0.0-\u{212a}", "1.0.0-" + String(repeating: "a", count: 123),
        ]
        for text in texts {
            XCTAssertNil(Version.parse(text), text)
        }
    }

    func testVersionsAreInTheOrderOfSemanticVersions() throws {
        let rising = try [
            "0.0.1", "0.2", "0.10.0", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-99999999999999999999",
            "1.0.0-100000000000000000000", "1.0.0--", "1.0.0-A", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
            "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0",
        ].map { try XCTUnwrap(Version.parse($0)) }
        for (low, lower) in rising.enumerated() {
            for (high, higher) in rising.enumerated() {
                XCTAssertEqual(lower < higher, low < high, "\(lower) \(higher)")
                XCTAssertEqual(lower == higher, low == high, "\(lower) \(higher)")
            }
        }
    }

    func testMetadataAndShortnessMakeNoDifference() {
        XCTAssertEqual(Version.parse("1.0.0+1"), Version.parse("1"))
        XCTAssertEqual(Version.parse("1.0.0-a+1"), Version.parse("1.0.0-a"))
    }

    func testABuildNumberHas1To18Digits() {
        XCTAssertEqual(BuildNumber.parse("007"), 7)
        XCTAssertEqual(BuildNumber.parse("999999999999999999"), 999_999_999_999_999_999)
        for text in ["", " ", "1 ", "-1", "+1", "1.0", "1e3", "a", "\u{663}", "1000000000000000000"] {
            XCTAssertNil(BuildNumber.parse(text), text)
        }
    }

    func testAnUpdateIsNewerByItsFirstNumber() {
        let cases = [
            (42, "41", true), (42, "42", false), (42, "43", false), (43, "0042", true), (1, "1.0.3", false),
            (2, "1.99999999999999999999999", true), (1, "0.9", true), (0, "0", false),
            (999_999_999_999_999_999, "18446744073709551616", false),
            (1, "0000000000000000000000000000000000000000", true), (5, "1.", false), (5, "a", false), (5, "", false),
        ]
        for (build, installed, newer) in cases {
            XCTAssertEqual(BuildNumber.isNewer(build, than: installed), newer, "\(build) \(installed)")
        }
    }
}
