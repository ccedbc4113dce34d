// Hostile texts neither overflow the stack nor take memory without bound.
import XCTest

@testable import LaunchwayCore

final class JsonReaderTests: XCTestCase {
    func testDepthIsBoundedBeforeTheStackIs() {
        for opening in ["[", "{\"a\":"] {
            XCTAssertEqual(refusal(String(repeating: opening, count: 400_000)), .depth)
        }
    }

    func testValuesAreCounted() throws {
        let most = "[" + String(repeating: "0,", count: JsonReader.maxValues - 2) + "0]"
        XCTAssertEqual(try read(most).asArray?.count, JsonReader.maxValues - 1)
        XCTAssertEqual(refusal("[" + most + "]"), .tooLarge)
        XCTAssertEqual(refusal("[" + String(repeating: "[],", count: 600_000)), .tooLarge)
    }

    func testNamesAreTheSameOnlyByTheirBytes() throws {
        let kelvin = try read("{\"K\":1,\"\u{212a}\":2,\"\u{e9}\":3,\"e\u{301}\":4}")
        XCTAssertEqual(kelvin["\u{212a}"], .integer(2))
        XCTAssertEqual(kelvin["e\u{301}"], .integer(4))
        XCTAssertEqual(kelvin.asObject?.ordered.map(\.value.asInteger), [1, 4, 3, 2])
        XCTAssertEqual(refusal("{\"\u{e9}\":1,\"\\u00e9\":2}"), .duplicateName)
        XCTAssertNotEqual(try read("\"\u{e9}\""), try read("\"e\u{301}\""))
    }

    func testLineBreaksOfTwoCharactersAreWhiteSpace() throws {
        XCTAssertEqual(try read("[\r\n1\r\n,\r\n2\r\n]\r\n"), .array([.integer(1), .integer(2)]))
        XCTAssertEqual(refusal("\"\r\n\""), .syntax)
    }

    func testTheLastCharactersOfUnicodeAreNotTheEnd() throws {
        XCTAssertEqual(try read("\"\u{ffff}\u{10ffff}\""), .text("\u{ffff}\u{10ffff}"))
        XCTAssertEqual(refusal("\u{ffff}"), .syntax)
        XCTAssertEqual(refusal("[1\u{ffff}"), .syntax)
    }

    func testDigitsOfOtherScriptsAreNotDigits() {
        XCTAssertEqual(refusal("\u{661}"), .syntax)
        XCTAssertEqual(refusal("-\u{661}"), .number)
        XCTAssertEqual(refusal("\"\\u\u{ff10}\u{ff10}\u{ff14}\u{ff11}\""), .syntax)
    }

    func testTextsThatEndTooEarlyAreRefused() {
        let whole = "{\"a\":[true,null,-12,\"\\ud83d\\ude00\"],\"b\":{}}"
        for count in 0..<whole.utf8.count {
            XCTAssertNotNil(refusal(String(decoding: whole.utf8.prefix(count), as: UTF8.self)))
        }
        XCTAssertNil(refusal(whole))
    }

    func testAnyBytesAreReadOrRefused() throws {
        var random = SeededRandom(seed: 7)
        let pieces = Array("[]{}\",:\\/u0019aef-+. \n\u{e9}\u{1f600}".utf8)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0..<24, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            if !bytes.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let value = try? JsonReader.read(bytes, limit: 1 << 16) else {
                continue
            }
            XCTAssertEqual(try read(JsonWriter.ascii(value)), value, "what was read is written back")
            XCTAssertEqual(try read(JsonWriter.plain(value)), value, "what was read is written back")
        }
    }

    func testNumbersThatAreTooLargeAreWrittenAsTheLargest() {
        XCTAssertEqual(JsonWriter.plain(.array([.integer(.max), .integer(.min)])), "[9007199254740991,-9007199254740991]")
    }

    private func read(_ text: String) throws -> JsonValue {
        try JsonReader.read(Utf8.encode(text), limit: 4 << 20)
    }

    private func refusal(_ text: String) -> JsonFault? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return (error as? FormError)?.json
        }
    }
}
