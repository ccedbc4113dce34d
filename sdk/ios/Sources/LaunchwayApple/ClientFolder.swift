// The client's own folder, `Application Support/launchway`: excluded from backups, and readable from the first unlock on. Before
// that, its files cannot be opened, and the embedded app runs.

import Foundation

enum ClientFolder {
    private static let name = "launchway"

    /// Returns the path of the folder, which exists.
    static func prepare() throws -> String {
        let support = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return try prepare(in: support)
    }

    static func prepare(in support: URL) throws -> String {
        let folder = support.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #if canImport(Darwin)
        // Both fail before the first unlock; a later start sets them.
        try? exclude(folder)
        try? FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: folder.path)
        #endif
        return folder.path
    }

    #if canImport(Darwin)
    private static func exclude(_ folder: URL) throws {
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var excluded = folder
        try excluded.setResourceValues(values)
    }
    #endif
}
