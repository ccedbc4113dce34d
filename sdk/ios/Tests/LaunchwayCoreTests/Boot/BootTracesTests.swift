// The boot machine decides at every step of every shared trace what the other clients decide.
import Foundation
import XCTest

@testable import LaunchwayCore

final class BootTracesTests: XCTestCase {
    func testEveryTraceHasItsAnswers() throws {
        XCTAssertGreaterThanOrEqual(try follow(Vectors.read("boot-traces.json")), 200, "the vectors are complete")
    }

    /// The client in Rust writes random traces to a file, one a line, and runs these tests.
    func testEveryRandomTraceHasItsAnswers() throws {
        guard let file = ProcessInfo.processInfo.environment["LAUNCHWAY_BOOT_TRACES"] else {
            throw XCTSkip("no random traces are given")
        }
        let lines = try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n"))
        for line in lines {
            try follow(trace: JsonReader.read([UInt8](line), limit: 1 << 20))
        }
        XCTAssertGreaterThanOrEqual(lines.count, 10_000, "the file is complete")
    }

    /// Returns the number of traces.
    private func follow(_ vectors: JsonValue) throws -> Int {
        let traces = try XCTUnwrap(vectors["traces"]?.asArray)
        for trace in traces {
            try follow(trace: trace)
        }
        return traces.count
    }

    private func follow(trace: JsonValue) throws {
        var app = TracedApp()
        for (number, step) in try XCTUnwrap(trace["steps"]?.asArray).enumerated() {
            let answer = try app.apply(step)
            if answer != step["expect"] {
                let texts = [answer, step["expect"]].map { $0.map(JsonWriter.plain) ?? "nothing" }
                XCTFail("\(trace["name"]?.asText ?? ""), step \(number): \(texts[0]) instead of \(texts[1])")
            }
        }
    }
}
