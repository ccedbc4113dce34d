// Reports that wait for the server (`docs/reference/sdk.md#reports`): one JSON object a line in `events.jsonl`. Threads take
// turns with it.

import Foundation

final class ReportQueue {
    /// The most reports that wait. The oldest leave first.
    static let maxReports = 200

    private static let file = "events.jsonl"
    /// The most bytes of a line: the longest stack, escaped.
    private static let maxLine = 64 << 10
    private static let maxFile = maxReports * maxLine

    private let storage: Storage
    private let lock = NSRecursiveLock()

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// The reports that wait, oldest first. Lines that are damaged are left out.
    func waiting() throws -> [Report] {
        lock.lock()
        defer { lock.unlock() }
        let bytes: [UInt8]
        do {
            bytes = try WholeFiles.read(storage, Self.file, max: Self.maxFile) ?? []
        } catch StorageError.unsuitable {
            return []
        }
        var reports: [Report] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) where reports.count < Self.maxReports {
            // The others count, whatever one line holds.
            if let report = try? Report(json: JsonReader.read(Array(line), limit: Self.maxLine)) {
                reports.append(report)
            }
        }
        return reports
    }

    /// Adds reports. The server counts each update and type of a device once, and so does this.
    func add(_ added: [Report]) throws {
        if added.isEmpty {
            return
        }
        lock.lock()
        defer { lock.unlock() }
        var all = try waiting()
        for report in added where !all.contains(where: report.isSame) {
            all.append(report)
        }
        try replace(all.suffix(Self.maxReports))
    }

    /// Removes reports. Others may have been added since these were read.
    func remove(_ removed: [Report]) throws {
        if removed.isEmpty {
            return
        }
        lock.lock()
        defer { lock.unlock() }
        try replace(waiting().filter { !removed.contains(where: $0.isSame) }[...])
    }

    /// Replaces everything that waits.
    private func replace(_ reports: ArraySlice<Report>) throws {
        let lines = reports.map { JsonWriter.plain($0.json) + "\n" }
        try WholeFiles.replace(storage, Self.file, Utf8.encode(lines.joined()))
    }
}
