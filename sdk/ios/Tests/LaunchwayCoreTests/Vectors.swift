// Reads the vectors that all clients share (`sdk/vectors`).
import Foundation

@testable import LaunchwayCore

enum Vectors {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("vectors")

    /// The bytes of the file at this path below `sdk/vectors`.
    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(path)))
    }
    /// The JSON in it.
    static func read(_ path: String) throws -> JsonValue {
        try JsonReader.read(bytes(path), limit: 8 << 20)
    }
}
