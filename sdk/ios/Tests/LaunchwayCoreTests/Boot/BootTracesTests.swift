// The boot machine decides at every step of every shared trace what the other clients decide.
import Foundation
import XCTest

@testable import LaunchwayCore

final class BootTracesTests: XCTestCase {
    func testEveryTraceHasItsAnswers() throws {
        XCTAssertGreaterThanOrEqual(try follow(Vectors.read("boot-traces.json")), 200, "the vectors are complete")
    }

    /// The file of traces that `LAUNCHWAY_TRACES` names, if it names one.
    func testEveryGivenTraceHasItsAnswers() throws {
        guard let file = ProcessInfo.processInfo.environment["LAUNCHWAY_TRACES"] else {
            throw XCTSkip("no other traces are given")
        }
        // One trace a line: a file of ten thousand has more values than the parser reads at once.
        let lines = try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n"))
        for line in lines {
            try follow(trace: JsonReader.read([UInt8](line), limit: 1 << 20))
        }
        print("summary: the boot machine in Swift gave the answers of \(lines.count) traces")
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
