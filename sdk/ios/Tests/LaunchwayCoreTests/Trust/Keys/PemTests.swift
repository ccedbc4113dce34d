// Armor is read whatever its line breaks, and the base64 in it in one spelling.
import XCTest

@testable import LaunchwayCore

final class PemTests: XCTestCase {
    func testArmorIsReadInOneSpelling() {
        let bytes = (0..<100).map { UInt8($0) }
        for count in 0...bytes.count {
            let pem = Pem.encode(Array(bytes.prefix(count)), label: "A")
            XCTAssertEqual(Pem.decode(pem, label: "A"), Array(bytes.prefix(count)))
            XCTAssertNil(Pem.decode(pem, label: "B"))
        }
        XCTAssertEqual(Pem.decode(" \u{2003}\r\n" + armor("\r\nAQ\t= =\n") + "\u{85}", label: "A"), [1])
        let refused = [
            "A", "AA", "AAA", "AR==", "AQF=", "AQ=A", "A===", "====", "AQ==AQ==", "AQ-_", "AQ\u{a0}==", "\u{e9}===",
        ]
        for content in refused {
            XCTAssertNil(Pem.decode(armor(content), label: "A"), content)
        }
        XCTAssertNil(Pem.decode("x" + armor("AQ=="), label: "A"))
        XCTAssertNil(Pem.decode("-----BEGIN A-----END A-----", label: "A"))
        XCTAssertNil(Pem.decode("", label: "A"))
    }

    private func armor(_ content: String) -> String {
        "-----BEGIN A-----\(content)-----END A-----"
    }
}
