// The folder of trusted metadata: one file for each role, its name quoted, its bytes as they were received.
import Foundation

@testable import LaunchwayCore

struct MetadataFolder {
    private let folder: URL

    init(_ path: String) throws {
        folder = URL(fileURLWithPath: path, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The trusted file of a role; nil if there is none.
    func read(_ role: String) throws -> [UInt8]? {
        let path = path(role).path
        return FileManager.default.fileExists(atPath: path) ? try readFile(path) : nil
    }

    /// Replaces it as a whole.
    func write(_ role: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: path(role), options: .atomic)
    }

    private func path(_ role: String) -> URL {
        folder.appendingPathComponent(PercentEncoding.encode(role) + ".json")
    }
}

func readFile(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}
