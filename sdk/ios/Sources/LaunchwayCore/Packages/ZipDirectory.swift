// The directory at the end of a ZIP (APPNOTE 4.3.12): what it declares about each entry, and whether that is allowed.

struct ZipDirectory {
    private static let headerLength = 46
    private static let mark = 0x0201_4b50

    private static let encrypted = 1 | 1 << 6 | 1 << 13
    private static let patch = 1 << 5
    private static let utf8 = 1 << 11
    /// The flags that change the meaning of an entry; the others are hints.
    static let meaningful = encrypted | patch | PackageEntry.descriptor | utf8

    private static let aes = 99

    private static let fileType = 0xf000
    private static let folder = 0x4000
    private static let regular = 0x8000
    private static let link = 0xa000

    /// In the order of the directory.
    private(set) var entries: [PackageEntry] = []
    /// The offset of the directory, at which the entries must end.
    let start: Int

    private let reader: PackageReader
    private let end: Int
    private var at: Int

    /// Reads the whole directory.
    init(_ reader: PackageReader) throws {
        let found = try ZipEnd.find(reader)
        if found.count > FileList.maxFiles {
            throw PackageError("the package has more than \(FileList.maxFiles) entries")
        }
        self.reader = reader
        start = found.start
        end = found.end
        at = found.start
        for _ in 0..<found.count {
            entries.append(try entry())
        }
        if at < end {
            throw PackageError.directory("it has more bytes than its entries")
        }
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        if count > end - at {
            throw PackageError.directory("it has fewer bytes than its entries")
        }
        at += count
        return try reader.read(from: at - count, count: count)
    }

    private mutating func entry() throws -> PackageEntry {
        var header = ZipBytes(try take(ZipDirectory.headerLength))
        if header.u32() != ZipDirectory.mark {
            throw PackageError.directory("one of its entries is not valid")
        }
        // The versions made by and needed to extract.
        header.skip(4)
        let flags = header.u16()
        let method = header.u16()
        // Time and date.
        header.skip(4)
        let checksum = header.u32()
        let packed = header.u32()
        let unpacked = header.u32()
        let nameLength = header.u16()
        let extraLength = header.u16()
        let commentLength = header.u16()
        let disk = header.u16()
        // Internal attributes, such as whether it is text.
        header.skip(2)
        let attributes = header.u32()
        let offset = header.u32()
        let nameBytes = try take(nameLength)
        let extraBytes = try take(extraLength)
        _ = try take(commentLength)
        let name = try PackagePath.check(nameBytes)
        try ZipDirectory.checkKind(name, flags, method, disk, attributes >> 16 & ZipDirectory.fileType)
        var extra = ZipExtra(extraBytes)
        if let extra = extra, extra.hasOtherName(than: nameBytes) {
            throw PackageError.entry(name, "has a second name")
        }
        // The order is that of the extra field.
        guard let wideUnpacked = extra?.number(unpacked), let widePacked = extra?.number(packed),
            let wideOffset = extra?.number(offset)
        else {
            throw PackageError.entry(name, "has damaged extra fields")
        }
        return PackageEntry(
            name: name, flags: flags, method: method, checksum: checksum, packed: widePacked, unpacked: wideUnpacked,
            start: wideOffset)
    }

    private static func checkKind(_ name: String, _ flags: Int, _ method: Int, _ disk: Int, _ type: Int) throws {
        if flags & encrypted != 0 || method == aes {
            throw PackageError.entry(name, "is encrypted")
        }
        if method != PackageEntry.stored && method != PackageEntry.deflated {
            throw PackageError.entry(name, "is compressed with method \(method)")
        }
        if flags & patch != 0 || disk != 0 {
            throw PackageError.entry(name, "requires another file")
        }
        // The Unix file type. Programs of other systems leave it 0, but not all readers check which system it was.
        if type == link {
            throw PackageError.entry(name, "is a symbolic link")
        }
        if type != 0 && type != folder && type != regular {
            throw PackageError.entry(name, "is neither a file nor a folder")
        }
        if type != 0 && PackagePath.isFolder(name) != (type == folder) {
            throw PackageError.entry(name, "is a folder by its name or by its attributes, but not by both")
        }
    }
}
