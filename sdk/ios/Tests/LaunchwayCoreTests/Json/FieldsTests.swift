// Members of an object are read as the type that they must have.
import XCTest

@testable import LaunchwayCore

final class FieldsTests: XCTestCase {
    private let members: JsonMembers = [
        "text": .text("a"), "zero": .integer(0), "negative": .integer(-1), "true": .bool(true), "null": .null,
        "texts": .texts(["a", "b"]), "mixed": .array([.text("a"), .integer(1)]), "object": .object([:]),
    ]

    func testMembersOfTheirTypeAreRead() throws {
        let fields = try Fields(.object(members), "file")
        XCTAssertEqual(try fields.text("text"), "a")
        XCTAssertEqual(try fields.count("zero"), 0)
        XCTAssertEqual(try fields.bool("true"), true)
        XCTAssertEqual(try fields.texts("texts"), ["a", "b"])
        XCTAssertEqual(try fields.value("null"), .null)
        XCTAssertTrue(try fields.object("object").members.isEmpty)
        XCTAssertEqual(try fields.optionalText("text"), "a")
        XCTAssertNil(try fields.optionalText("missing"))
    }

    func testEveryOtherMemberIsAnErrorThatNamesIt() throws {
        let fields = try Fields(.object(members), "file")
        let attempts: [(String, (String) throws -> Any?)] = [
            ("missing", fields.text), ("zero", fields.text), ("null", fields.optionalText), ("negative", fields.count),
            ("zero", fields.positive), ("text", fields.bool), ("mixed", fields.texts), ("text", fields.array),
            ("texts", fields.object), ("missing", fields.value),
        ]
        for (name, attempt) in attempts {
            XCTAssertThrowsError(try attempt(name)) { XCTAssertEqual($0 as? FormError, .field(name)) }
        }
        XCTAssertThrowsError(try Fields(.array([]), "file")) { XCTAssertEqual($0 as? FormError, .field("file")) }
    }
}
