// An open package: a ZIP that every reader unpacks alike (docs/reference/file-lists.md#packages). Opening checks all that the
// directory declares, unpacking an entry the rest: a package is valid when all its entries were unpacked.

final class PackageArchive {
    /// In the order of the file, folders included.
    let entries: [PackageEntry]

    private let reader: PackageReader
    /// The offset of the directory, at which the last entry must end.
    private let directoryStart: Int
    private let inflater: Inflater

    /// Reads and checks the directory. Throws `PackageError` if the package breaks a rule, and another error if the source
    /// cannot be read, which is not the fault of the package.
    init(_ source: Source) throws {
        reader = try PackageReader(source)
        inflater = try Inflater()
        let directory = try ZipDirectory(reader)
        var total = 0
        for entry in directory.entries {
            if entry.unpacked > FileList.maxTotal - total {
                throw PackageError("the package unpacks to more than \(FileList.maxTotal) bytes")
            }
            total += entry.unpacked
        }
        try PackagePath.checkCollisions(directory.entries.map { $0.name })
        if !directory.entries.contains(where: { !$0.isFolder }) {
            throw PackageError("the package contains no file")
        }
        entries = directory.entries.sorted { $0.start < $1.start }
        directoryStart = directory.start
        if entries[0].start > 0 {
            throw ZipEnd.leadingBytes()
        }
        // An entry ends where the next begins. One that begins behind the directory would lead another out of the file.
        if let last = entries.last, last.start >= directoryStart {
            throw LocalHeader.overlaps(last)
        }
    }

    /// Checks the entry at `index`, unpacks it into `target`, or to nowhere, and returns the digest of its content. What was
    /// written is worthless if this fails: with `PackageError` if the entry is not what the directory declares.
    func unpack(_ index: Int, into target: Target?) throws -> Sha256 {
        let entry = entries[index]
        let end = index + 1 < entries.count ? entries[index + 1].start : directoryStart
        let dataStart = try LocalHeader.check(reader, entry, end: end)
        return try EntryContents.unpack(reader, entry, start: dataStart, inflater: inflater, into: target)
    }
}
