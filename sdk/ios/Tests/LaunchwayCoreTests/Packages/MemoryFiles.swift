// A package in memory, and files that are unpacked to memory.

@testable import LaunchwayCore

final class MemorySource: Source {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func length() throws -> Int {
        bytes.count
    }

    func read(from: Int, into buffer: inout [UInt8], count: Int) throws -> Int {
        // Short reads are as good as long ones.
        let length = max(0, min(count, bytes.count - from, 7))
        buffer.replaceSubrange(..<length, with: bytes[from..<from + length])
        return length
    }
}

final class MemoryFiles: UnpackingSink {
    final class File: Target {
        private(set) var bytes: [UInt8] = []
        private(set) var isSynced = false
        private(set) var isClosed = false

        func write(_ bytes: ArraySlice<UInt8>) throws {
            self.bytes += bytes
            isSynced = false
        }

        func sync() throws {
            isSynced = true
        }

        func close() throws {
            isClosed = true
        }
    }

    private(set) var written: [String: File] = [:]

    func create(_ path: String) throws -> Target {
        let file = File()
        written[path] = file
        return file
    }
}
