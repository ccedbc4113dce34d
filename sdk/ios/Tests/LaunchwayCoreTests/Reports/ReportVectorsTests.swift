// Reasons and stacks are cut as the vectors say.
import XCTest

@testable import LaunchwayCore

final class ReportVectorsTests: XCTestCase {
    func testLongReasonsAreCut() throws {
        let cases = try XCTUnwrap(Vectors.read("reports.json")["reasons"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 6, "the vectors are complete")
        for vector in cases {
            let report = Report("failed", "a", at: 0, reason: try text(vector["given"]))
            XCTAssertTrue(try XCTUnwrap(report.reason).isExactly(text(vector["kept"])), JsonWriter.ascii(vector))
        }
    }

    func testLongStacksAreCut() throws {
        let cases = try XCTUnwrap(Vectors.read("reports.json")["stacks"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 10, "the vectors are complete")
        for vector in cases {
            let report = Report("crash", "a", at: 0, stack: try text(vector["given"]))
            XCTAssertTrue(try XCTUnwrap(report.stack).isExactly(text(vector["kept"])), JsonWriter.ascii(vector))
        }
    }

    /// The text of these parts, each of which is repeated.
    private func text(_ parts: JsonValue?) throws -> String {
        let parts = try XCTUnwrap(parts?.asArray)
        let repeated = try parts.map { part -> String in
            let pair = try XCTUnwrap(part.asArray)
            return String(repeating: try XCTUnwrap(pair[0].asText), count: try XCTUnwrap(pair[1].asInteger))
        }
        return repeated.joined()
    }
}
