// Every client reads and writes the same `state.json`.
import XCTest

@testable import LaunchwayCore

final class StateVectorsTests: XCTestCase {
    private let temporary = TemporaryFolder()

    private func cases(_ kind: String, atLeast count: Int) throws -> [(name: String, vector: JsonValue)] {
        let cases = try XCTUnwrap(Vectors.read("states.json")[kind]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, count, "the vectors are complete")
        return cases.map { ($0["name"]?.asText ?? "", $0) }
    }

    private func load(_ folder: Folder, _ vector: JsonValue) throws -> Found<State> {
        try WholeFiles.replace(folder, "state.json", Utf8.encode(XCTUnwrap(vector["text"]?.asText)))
        return try StateFiles.loadState(folder)
    }

    func testStatesAreReadAndWrittenAsTheVectorsSay() throws {
        let folder = try temporary.open()
        for (name, vector) in try cases("read", atLeast: 5) {
            let state = try XCTUnwrap(load(folder, vector).content, name)
            try StateFiles.saveState(folder, state)
            let written = try WholeFiles.read(folder, "state.json", max: 1 << 20)
            XCTAssertEqual(written.flatMap(Utf8.decode), vector["written"]?.asText, name)
        }
    }

    func testCorruptStatesAreRefused() throws {
        let folder = try temporary.open()
        for (name, vector) in try cases("corrupt", atLeast: 75) {
            XCTAssert(try load(folder, vector).isCorrupt, name)
        }
    }
}
