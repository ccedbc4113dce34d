// The contents of an entry: unpacked in memory of constant size, and compared with the declared size and checksum.

struct EntryContents {
    private static let chunkSize = 1 << 16

    private let reader: PackageReader
    private let entry: PackageEntry
    private let target: Target?
    private var checksum = Crc32()
    private var hash = Sha256Hash()
    private var size = 0

    /// Unpacks the data of `entry`, which begins at `start`, and returns the digest of its content.
    static func unpack(
        _ reader: PackageReader, _ entry: PackageEntry, start: Int, inflater: Inflater, into target: Target?
    ) throws -> Sha256 {
        var contents = EntryContents(reader: reader, entry: entry, target: target)
        if entry.isFolder && entry.unpacked > 0 {
            throw entry.refused("is a folder with content")
        }
        if entry.method == PackageEntry.stored {
            try contents.copy(start)
        } else if !entry.isFolder || entry.packed > 0 {
            // Some writers set a method although a folder is empty.
            try contents.inflate(start, inflater)
        }
        return try contents.finish()
    }

    private init(reader: PackageReader, entry: PackageEntry, target: Target?) {
        self.reader = reader
        self.entry = entry
        self.target = target
    }

    private mutating func copy(_ start: Int) throws {
        var done = 0
        while done < entry.packed {
            let bytes = try reader.some(from: start + done, limit: entry.packed - done)
            done += bytes.count
            try take(bytes)
        }
    }

    /// Inflates until the stream ends, which must be the end of the data.
    private mutating func inflate(_ start: Int, _ inflater: Inflater) throws {
        var output = [UInt8](repeating: 0, count: EntryContents.chunkSize)
        var done = 0
        var isEnd = false
        inflater.reset()
        while !isEnd {
            let left = entry.packed - done
            let input = left > 0 ? try reader.some(from: start + done, limit: left) : []
            guard let step = inflater.step(input, into: &output), step.used + step.given > 0 || step.isEnd else {
                throw damaged()
            }
            done += step.used
            isEnd = step.isEnd
            try take(output[..<step.given])
        }
        if done < entry.packed {
            throw damaged()
        }
    }

    private func damaged() -> PackageError {
        entry.refused("cannot be unpacked, because its bytes are damaged")
    }

    private func wrongSize() -> PackageError {
        entry.refused("does not have its declared size")
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) throws {
        size += bytes.count
        if size > entry.unpacked {
            throw wrongSize()
        }
        checksum.update(bytes)
        hash.update(bytes)
        try target?.write(bytes)
    }

    private mutating func finish() throws -> Sha256 {
        if size != entry.unpacked {
            throw wrongSize()
        }
        if checksum.value != entry.checksum {
            throw entry.refused("does not have its declared checksum")
        }
        return hash.finish()
    }
}
