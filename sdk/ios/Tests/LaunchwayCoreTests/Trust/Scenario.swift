// A scenario of `sdk/vectors/trust/workflow.json` and what its server serves, for tests that change it.
import XCTest

@testable import LaunchwayCore

struct Scenario {
    let content: JsonValue
    let embedded: TrustFile
    /// The files of the first step.
    var files = ServedFiles()
    let now: Int

    init(_ index: Int) throws {
        content = try XCTUnwrap(Vectors.read("trust/workflow.json")["scenarios"]?.asArray)[index]
        embedded = try TrustFile.parse(Utf8.encode(JsonWriter.ascii(XCTUnwrap(content["embedded"]))))
        let step = try XCTUnwrap(content["steps"]?.asArray?.first)
        now = try XCTUnwrap(step["now"]?.asInteger)
        files.change(try XCTUnwrap(step["files"]?.asObject))
    }

    func open(_ stored: StoredTrust? = nil) throws -> TrustClient {
        try TrustClient(embedded: embedded, bundleId: "com.example.app", configuration: "production", stored: stored)
    }
}

/// What a server serves, by name.
struct ServedFiles {
    var files: [String: [UInt8]] = [:]

    /// Takes the texts; a file that is null is no longer served.
    mutating func change(_ changes: JsonMembers) {
        for (name, text) in changes.ordered {
            files[name] = text.asText.map(Utf8.encode)
        }
    }

    /// Runs the workflow. Returns `accepted`, or the role and code of the refusal.
    func renew(_ client: TrustClient, _ now: Int) -> String {
        let refresh = client.refresh(now: now)
        do {
            while let request = try refresh.nextRequest() {
                if let file = files[request.fileName] {
                    _ = try refresh.take(file)
                } else {
                    try refresh.reportMissing()
                }
            }
            return "accepted"
        } catch let refusal as RoleError {
            return "\(refusal.role) \(refusal.code)"
        } catch {
            return "\(error)"
        }
    }
}
