// The record at the very end of a ZIP that locates the directory (APPNOTE 4.3.14 to 4.3.16).

struct ZipEnd {
    /// Lengths in bytes of the record, of the ZIP64 locator, and of the ZIP64 record.
    private static let endLength = 22
    private static let locatorLength = 20
    private static let wideEndLength = 56

    private static let maxComment = 0xffff
    private static let endMark: [UInt8] = [0x50, 0x4b, 5, 6]
    private static let locatorMark = 0x0706_4b50
    private static let wideEndMark = 0x0606_4b50

    /// The number of entries in the directory.
    let count: Int
    /// The offset of the directory.
    let start: Int
    /// The offset after the directory, where the end records begin.
    let end: Int

    /// The numbers of an end record, of either width.
    private struct Numbers {
        let disk: Int
        let directoryDisk: Int
        let countHere: Int
        let count: Int
        let size: Int
        let start: Int

        init(narrow bytes: inout ZipBytes) {
            disk = bytes.u16()
            directoryDisk = bytes.u16()
            countHere = bytes.u16()
            count = bytes.u16()
            size = bytes.u32()
            start = bytes.u32()
        }

        init(wide bytes: inout ZipBytes) {
            disk = bytes.u32()
            directoryDisk = bytes.u32()
            countHere = bytes.u64()
            count = bytes.u64()
            size = bytes.u64()
            start = bytes.u64()
        }

        /// Whether each number is the other's, or the placeholder for one in the ZIP64 record.
        func agrees(with wide: Numbers) -> Bool {
            func same(_ narrow: Int, _ wide: Int, _ elsewhere: Int) -> Bool {
                narrow == elsewhere || narrow == wide
            }
            return same(disk, wide.disk, 0xffff)
                && same(directoryDisk, wide.directoryDisk, 0xffff)
                && same(countHere, wide.countHere, 0xffff)
                && same(count, wide.count, 0xffff)
                && same(size, wide.size, 0xffff_ffff)
                && same(start, wide.start, 0xffff_ffff)
        }
    }

    /// Finds the last end record, as readers that search from the end do. It must end with the file.
    static func find(_ reader: PackageReader) throws -> ZipEnd {
        let tailStart = max(0, reader.length - endLength - maxComment)
        let tail = try reader.read(from: tailStart, count: reader.length - tailStart)
        guard let at = lastMark(tail), tail.count - at >= endLength else {
            throw notZip()
        }
        var bytes = ZipBytes(tail)
        bytes.skip(at + 4)
        let narrow = Numbers(narrow: &bytes)
        let comment = bytes.u16()
        let rest = tail.count - at - endLength
        if rest > comment {
            throw PackageError("there are bytes after the end of the ZIP archive")
        }
        if rest < comment {
            throw notZip()
        }
        return try locate(reader, narrow, tailStart + at)
    }

    private static func notZip() -> PackageError {
        PackageError("the package is not a ZIP archive, or its end is missing")
    }

    private static func lastMark(_ tail: [UInt8]) -> Int? {
        stride(from: tail.count - 4, through: 0, by: -1).first { at in
            tail[at] == endMark[0] && tail[at..<at + 4].elementsEqual(endMark)
        }
    }

    /// `at` is the offset of the record of regular width.
    private static func locate(_ reader: PackageReader, _ narrow: Numbers, _ at: Int) throws -> ZipEnd {
        let wide = try self.wide(reader, narrow, at)
        let whole = wide ?? narrow
        let end = wide == nil ? at : at - locatorLength - wideEndLength
        if whole.disk != 0 || whole.directoryDisk != 0 || whole.countHere != whole.count {
            throw PackageError.directory("it is only one part of several files")
        }
        if whole.start > end || whole.size > end - whole.start {
            throw PackageError.directory("it is not at its offset")
        }
        if whole.start + whole.size < end {
            // The classic sign of a program or a picture with an appended archive: all offsets are too small.
            throw leadingBytes()
        }
        return ZipEnd(count: whole.count, start: whole.start, end: end)
    }

    static func leadingBytes() -> PackageError {
        PackageError("there are bytes before the first entry of the ZIP archive")
    }

    /// The ZIP64 record before `at`, or nil if there is none. It must agree with the regular one, because some readers use the
    /// one and some the other.
    private static func wide(_ reader: PackageReader, _ narrow: Numbers, _ at: Int) throws -> Numbers? {
        if at < locatorLength {
            return nil
        }
        var locator = ZipBytes(try reader.read(from: at - locatorLength, count: locatorLength))
        if locator.u32() != locatorMark {
            return nil
        }
        let expected = at - locatorLength - wideEndLength
        let isFirstDisk = locator.u32() == 0
        let isAtItsPlace = locator.u64() == expected
        let isOnlyDisk = locator.u32() <= 1
        if expected >= 0 && isFirstDisk && isAtItsPlace && isOnlyDisk {
            var record = ZipBytes(try reader.read(from: expected, count: wideEndLength))
            let isMarked = record.u32() == wideEndMark
            let isWhole = record.u64() == wideEndLength - 12
            // The versions made by and needed to extract.
            record.skip(4)
            let wide = Numbers(wide: &record)
            if isMarked && isWhole && narrow.agrees(with: wide) {
                return wide
            }
        }
        throw PackageError.directory("its ZIP64 end record is inconsistent")
    }
}
