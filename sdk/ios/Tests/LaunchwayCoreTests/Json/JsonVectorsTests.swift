// The texts in `sdk/vectors` are read, written and refused as the vectors say.
import XCTest

@testable import LaunchwayCore

final class JsonVectorsTests: XCTestCase {
    func testTextsAreReadAndWrittenBack() throws {
        let cases = try XCTUnwrap(Vectors.read("json.json")["read"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 23, "the vectors are complete")
        for vector in cases {
            let text = try XCTUnwrap(vector["text"]?.asText)
            let value = try JsonReader.read(Utf8.encode(text), limit: 1 << 16)
            let written = try XCTUnwrap(vector["written"]?.asText)
            XCTAssertTrue(JsonWriter.plain(value).isExactly(written), text)
        }
    }

    func testTextsOfDevicesAreRefused() throws {
        let cases = try XCTUnwrap(Vectors.read("json.json")["refused"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 73, "the vectors are complete")
        for vector in cases {
            XCTAssertNotEqual(outcome(try bytes(vector), 1 << 16), "accepted", JsonWriter.ascii(vector))
        }
    }

    func testMetadataHasItsCanonicalForm() throws {
        let vectors = try Vectors.read("trust/json.json")
        let limit = try XCTUnwrap(vectors["limit"]?.asInteger)
        let cases = try XCTUnwrap(vectors["accepted"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 19, "the vectors are complete")
        for vector in cases {
            let value = try JsonReader.read(bytes(vector), limit: limit)
            let canonical = try XCTUnwrap(vector["canonical"]?.asText)
            XCTAssertEqual(JsonWriter.canonical(value), Utf8.encode(canonical), JsonWriter.ascii(vector))
        }
    }

    func testMetadataIsRefusedForItsReason() throws {
        let vectors = try Vectors.read("trust/json.json")
        let limit = try XCTUnwrap(vectors["limit"]?.asInteger)
        let cases = try XCTUnwrap(vectors["refused"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 99, "the vectors are complete")
        for vector in cases {
            XCTAssertEqual(outcome(try bytes(vector), limit), vector["reason"]?.asText, JsonWriter.ascii(vector))
        }
    }

    private func outcome(_ bytes: [UInt8], _ limit: Int) -> String {
        do {
            _ = try JsonReader.read(bytes, limit: limit)
            return "accepted"
        } catch {
            return (error as? FormError)?.json?.rawValue ?? "\(error)"
        }
    }

    private func bytes(_ vector: JsonValue) throws -> [UInt8] {
        if let digits = vector["hex"]?.asText {
            return try XCTUnwrap(Hex.decode(digits))
        }
        if let text = vector["text"]?.asText {
            return Utf8.encode(text)
        }
        let count = try XCTUnwrap(vector["count"]?.asInteger)
        return Utf8.encode(String(repeating: try XCTUnwrap(vector["repeat"]?.asText), count: count))
    }
}
