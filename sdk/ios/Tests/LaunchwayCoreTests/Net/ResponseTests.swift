// What is read of a response that a hostile server wrote.
import XCTest

@testable import LaunchwayCore

final class ResponseTests: XCTestCase {
    private func response(_ headers: [(name: String, value: String)]) -> Response {
        Response(status: 200, headers: headers, body: MemoryBody([]))
    }

    func testAFieldIsFoundWhateverItsCaseUnlessItOccursTwice() {
        XCTAssertEqual(response([("ETAG", " \"a\"\t")]).header("etag"), "\"a\"")
        XCTAssertNil(response([("ETag", "a"), ("etag", "a")]).header("etag"))
        XCTAssertNil(response([]).header("etag"))
    }

    func testAServerPostponesByAnHourAtMost() {
        let answers: [(String, Int?)] = [
            ("0", 0), ("17", 17), ("999999999999999999", 3600), ("9999999999999999999", nil), ("-1", nil), ("", nil),
            ("Fri, 31 Dec 1999 23:59:59 GMT", nil), ("1.5", nil), ("\u{0661}", nil),
        ]
        for (value, seconds) in answers {
            XCTAssertEqual(response([("Retry-After", value)]).retryAfter, seconds, value)
        }
    }

    func testABodyIsReadUpToOneByteMoreThanAllowed() throws {
        let endless = Response(status: 200, headers: [], body: MemoryBody([], .endless))
        XCTAssertEqual(try endless.readBody(max: 20_000).count, 20_001)
        let short = Response(status: 200, headers: [], body: MemoryBody([1, 2, 3]))
        XCTAssertEqual(try short.readBody(max: 3), [1, 2, 3])
    }
}
