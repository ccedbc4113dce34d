// An entry's own header (APPNOTE 4.3.7) and the data descriptor after its data: both must agree with the directory.

struct LocalHeader {
    private static let length = 30
    private static let mark = 0x0403_4b50
    private static let descriptorMark = 0x0807_4b50

    private let reader: PackageReader
    private let entry: PackageEntry
    /// The offset up to which the entry must extend.
    private let end: Int

    /// Checks the header and the extent of an entry, which must extend to `end`. Returns the offset of its data.
    static func check(_ reader: PackageReader, _ entry: PackageEntry, end: Int) throws -> Int {
        let header = LocalHeader(reader: reader, entry: entry, end: end)
        let dataStart = try header.checkHeader()
        if entry.packed > end - dataStart {
            throw overlaps(entry)
        }
        let dataEnd = dataStart + entry.packed
        if entry.flags & PackageEntry.descriptor != 0 {
            try header.checkDescriptor(start: dataEnd)
        } else if dataEnd < end {
            throw header.stray()
        }
        return dataStart
    }

    static func overlaps(_ entry: PackageEntry) -> PackageError {
        entry.refused("overlaps another entry or the directory")
    }

    private func stray() -> PackageError {
        entry.refused("is followed by bytes that belong to no entry")
    }

    private func disagrees(_ what: String) -> PackageError {
        entry.refused("has a different \(what) in its own header than in the directory")
    }

    private func checkHeader() throws -> Int {
        if entry.start > end - LocalHeader.length {
            throw LocalHeader.overlaps(entry)
        }
        var header = ZipBytes(try reader.read(from: entry.start, count: LocalHeader.length))
        if header.u32() != LocalHeader.mark {
            throw entry.refused("is not at the offset in the directory")
        }
        // The version needed to extract.
        header.skip(2)
        let flags = header.u16()
        let method = header.u16()
        // Time and date.
        header.skip(4)
        let numbers = (checksum: header.u32(), packed: header.u32(), unpacked: header.u32())
        let nameLength = header.u16()
        let extraLength = header.u16()
        let namesStart = entry.start + LocalHeader.length
        if nameLength + extraLength > end - namesStart {
            throw LocalHeader.overlaps(entry)
        }
        let name = try reader.read(from: namesStart, count: nameLength)
        let extra = ZipExtra(try reader.read(from: namesStart + nameLength, count: extraLength))
        if name != Utf8.encode(entry.name) {
            throw disagrees("name")
        }
        if method != entry.method {
            throw disagrees("method")
        }
        if flags & ZipDirectory.meaningful != entry.flags & ZipDirectory.meaningful {
            throw disagrees("set of flags")
        }
        guard var extra = extra else {
            throw entry.refused("has damaged extra fields")
        }
        if extra.hasOtherName(than: name) {
            throw disagrees("name")
        }
        // The order is that of the extra field.
        let areEqual =
            agrees(extra.number(numbers.unpacked), entry.unpacked)
            && agrees(extra.number(numbers.packed), entry.packed)
            && agrees(numbers.checksum, entry.checksum)
        if !areEqual {
            throw disagrees("size or checksum")
        }
        return namesStart + nameLength + extraLength
    }

    private func agrees(_ found: Int?, _ known: Int) -> Bool {
        found == known || (found == 0 && entry.flags & PackageEntry.descriptor != 0)
    }

    /// Checks the data descriptor: checksum and sizes, with an optional mark, in one of two widths. The start of the next
    /// entry tells which.
    private func checkDescriptor(start: Int) throws {
        let length = end - start
        if length == 0 {
            throw entry.refused("is not followed by its sizes")
        }
        let marked = length == 16 || length == 24
        let wide = length == 20 || length == 24
        if !marked && !wide && length != 12 {
            throw stray()
        }
        var bytes = ZipBytes(try reader.read(from: start, count: length))
        if marked && bytes.u32() != LocalHeader.descriptorMark {
            throw stray()
        }
        let checksum = bytes.u32()
        let packed = wide ? bytes.u64() : bytes.u32()
        let unpacked = wide ? bytes.u64() : bytes.u32()
        if checksum != entry.checksum || packed != entry.packed || unpacked != entry.unpacked {
            throw disagrees("size or checksum")
        }
    }
}
