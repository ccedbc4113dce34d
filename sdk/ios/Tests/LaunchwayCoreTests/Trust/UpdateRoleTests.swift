// Which names roles have.
import XCTest

@testable import LaunchwayCore

final class UpdateRoleTests: XCTestCase {
    func testAConfigurationHasFewKindsOfLetters() {
        for text in ["a", "A.b_c-9", String(repeating: "a", count: 64)] {
            XCTAssertTrue(UpdateRole.isConfiguration(text), text)
        }
        for text in ["", "a/b", "a b", "\u{e9}", "a\n", "\u{212a}", String(repeating: "a", count: 65)] {
            XCTAssertFalse(UpdateRole.isConfiguration(text), text)
        }
    }
}
