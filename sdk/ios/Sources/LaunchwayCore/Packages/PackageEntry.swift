// What the directory of a package declares about one entry.

struct PackageEntry {
    static let stored = 0
    static let deflated = 8

    /// Size and checksum follow the data and are absent from the entry's own header.
    static let descriptor = 1 << 3

    let name: String
    let flags: Int
    let method: Int
    let checksum: Int
    let packed: Int
    let unpacked: Int
    /// The offset of its own header.
    let start: Int

    /// The path, without a folder's trailing slash.
    var path: String { PackagePath.ofFile(name) }

    var isFolder: Bool { PackagePath.isFolder(name) }

    /// The unpacked size in bytes.
    var size: Int { unpacked }

    func refused(_ fault: String) -> PackageError {
        PackageError.entry(name, fault)
    }
}
