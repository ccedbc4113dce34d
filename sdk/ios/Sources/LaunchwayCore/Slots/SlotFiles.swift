// The files of a slot: newly created one by one, with the folders that they need; and hashed again.

final class SlotFiles: UnpackingSink {
    private static let chunkSize = 64 << 10

    private let storage: Storage
    private let content: String
    private var folders: Set<ExactText> = []

    init(_ storage: Storage, content: String) throws {
        self.storage = storage
        self.content = content
        try storage.makeFolder(content)
        folders.insert(ExactText(content))
    }

    func create(_ path: String) throws -> Target {
        let whole = WholeFiles.join(content, path)
        var folder = WholeFiles.parent(whole)
        if !folders.contains(ExactText(folder)) {
            try storage.makeFolder(folder)
            while folders.insert(ExactText(folder)).inserted {
                folder = WholeFiles.parent(folder)
            }
        }
        // Path rules let no two entries meet; a file that is there all the same comes from a file system with other rules.
        if try storage.entry(whole) != nil {
            throw InstallError.collision(path)
        }
        return try storage.create(whole)
    }

    /// Returns when the names of all files are on disk.
    func syncFolders() throws {
        for folder in folders.sorted().reversed() {
            try storage.syncFolder(folder.text)
        }
    }

    static func hash(_ storage: Storage, folder: String, path: String) throws -> ListedFile {
        let source = try storage.open(WholeFiles.join(folder, path))
        var hash = Sha256Hash()
        var buffer = [UInt8](repeating: 0, count: chunkSize)
        var size = 0
        while true {
            let count = try source.read(from: size, into: &buffer, count: chunkSize)
            if count == 0 {
                return ListedFile(path: path, size: size, sha256: hash.finish())
            }
            hash.update(buffer[..<count])
            size += count
        }
    }
}
