// Rounds of an app with a root are, request by request, those of the shared vectors.
import XCTest

@testable import LaunchwayCore

final class SignedRoundsTests: XCTestCase {
    func testEveryRoundIsAsRecorded() throws {
        let vectors = try Fields(Vectors.read("signed-rounds.json"), "vectors")
        let traces = try vectors.array("traces")
        XCTAssertGreaterThanOrEqual(traces.count, 20, "the vectors are complete")
        for trace in traces {
            try replay(Fields(trace, "trace"), vectors.array("bodies"))
        }
    }

    private func replay(_ trace: Fields, _ bodies: [JsonValue]) throws {
        let phone = Phone()
        phone.settings.platform = .android
        phone.trustFile = Utf8.encode(try trace.text("trustFile"))
        phone.builtAt = try trace.count("builtAt")
        phone.clock.now = phone.builtAt
        _ = try phone.process(RecordedServer([], bodies, about: "first start")).start()
        for (number, step) in try trace.array("steps").enumerated() {
            let step = try Fields(step, "step")
            let about = "\(try trace.text("name")), step \(number)"
            phone.clock.now = try step.count("now")
            phone.clock.pauses = []
            let isSync = try step.text("do") == "sync"
            let server = RecordedServer(isSync ? try step.array("http") : [], bodies, about: about)
            let device = try phone.process(server)
            let outcome = isSync ? try sync(device) : try start(device)
            let pause = phone.clock.pauses.isEmpty ? "" : " after a pause"
            XCTAssertEqual(outcome + pause, try step.text("expect"), about)
            XCTAssertTrue(phone.clock.pauses.isEmpty || phone.clock.pauses == [3000], about)
            XCTAssertTrue(server.isDone, "\(about): too few requests")
        }
    }

    private func start(_ device: Device) throws -> String {
        let content = device.start()
        _ = try device.confirm()
        return content.description
    }

    private func sync(_ device: Device) throws -> String {
        do {
            return try device.sync().text
        } catch SyncError.unverified(let failure) {
            let role = (failure.refusal as? RoleError).map { $0.role + " " } ?? ""
            return "refused \(role)\(failure.refusal?.code ?? "nothing")"
        }
    }
}
