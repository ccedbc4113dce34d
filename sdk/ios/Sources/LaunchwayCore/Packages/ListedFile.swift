// One file of a list.

struct ListedFile: Equatable {
    /// The path, exactly as in the package.
    let path: String
    /// The number of bytes.
    let size: Int
    /// The digest of the content.
    let sha256: Sha256

    static func == (one: ListedFile, other: ListedFile) -> Bool {
        one.path.isExactly(other.path) && one.size == other.size && one.sha256 == other.sha256
    }
}
