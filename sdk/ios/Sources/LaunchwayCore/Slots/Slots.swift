// Installed packages (`docs/reference/sdk.md#slots`): `slots/<sha256>/` with the files in `app/`, their list in `files.json`,
// and `.complete`, written last, with the list's digest.

struct Slots {
    /// The folder of all slots.
    static let folder = "slots"

    private static let mark = ".complete"
    private static let list = "files.json"
    private static let digestDigits = 64
    /// What a file takes on the disk beyond its bytes.
    private static let bytesPerFile = 4096
    /// What stays free for everything else on the phone.
    private static let spareBytes = 8 << 20

    private let storage: Storage
    private let entryFile: String

    init(_ storage: Storage, entryFile: String) {
        self.storage = storage
        self.entryFile = entryFile
    }

    private static func folder(_ slot: Sha256) -> String {
        "\(folder)/\(slot)"
    }

    /// The folder with a slot's files.
    static func content(_ slot: Sha256) -> String {
        folder(slot) + "/app"
    }

    /// Unpacks the package at `path` into a fresh slot and returns the digest of its file list, which must be `expected` if
    /// that is known. Until `.complete` is there the slot is nothing. Throws `InstallError` if the package is refused; if the
    /// storage fails, what was written is removed at the next try.
    func install(_ path: String, slot: Sha256, expected: Sha256?) throws -> Sha256 {
        do {
            let archive = try PackageArchive(storage.open(path))
            try Unpacking.check(archive, list: nil, entryFile: entryFile)
            try checkSpace(archive)
            let folder = Slots.folder(slot)
            try remove(folder)
            let files = try SlotFiles(storage, content: Slots.content(slot))
            let list = try Unpacking.unpack(archive, list: nil, sink: files)
            let manifest = list.manifest()
            if let expected = expected, expected != manifest {
                throw InstallError.wrongFiles
            }
            try files.syncFolders()
            try storage.syncFolder(folder)
            try storage.syncFolder(Slots.folder)
            try WholeFiles.replace(storage, WholeFiles.join(folder, Slots.list), list.canonical())
            try WholeFiles.replace(storage, WholeFiles.join(folder, Slots.mark), Utf8.encode(manifest.hex))
            return manifest
        } catch let fault as PackageError {
            throw InstallError.faulty(fault.message)
        }
    }

    private func checkSpace(_ archive: PackageArchive) throws {
        let files = archive.entries.reduce(0) { $0 + $1.size + Slots.bytesPerFile }
        let needed = files + Slots.spareBytes
        let free = try storage.freeSpace()
        if free < needed {
            throw InstallError.noSpace(needed: needed, free: free)
        }
    }

    /// Removes a slot. Its mark goes first: without it the rest is nothing, however far the removal gets.
    func remove(_ folder: String) throws {
        let mark = WholeFiles.join(folder, Slots.mark)
        if try storage.entry(mark) != nil {
            try WholeFiles.removeTree(storage, mark)
            try storage.syncFolder(folder)
        }
        try WholeFiles.removeTree(storage, folder)
    }

    /// Whether a slot can be handed over. Its hashes are computed only the first time. Throws if the storage fails, so that
    /// nobody knows.
    func soundness(_ slot: Sha256, first: Bool) throws -> Soundness {
        guard let manifest = try mark(slot) else {
            return .incomplete
        }
        guard let entry = try storage.entry(WholeFiles.join(Slots.content(slot), entryFile)), entry.isFile else {
            return .noEntryFile
        }
        return try first && !isIntact(slot, manifest) ? .damaged : .sound
    }

    /// The digest in `.complete`; nil if there is none.
    private func mark(_ slot: Sha256) throws -> Sha256? {
        do {
            let path = WholeFiles.join(Slots.folder(slot), Slots.mark)
            let bytes = try WholeFiles.read(storage, path, max: Slots.digestDigits)
            return bytes.flatMap(Utf8.decode).flatMap { Sha256($0) }
        } catch StorageError.unsuitable {
            return nil
        }
    }

    /// Whether the files of a slot are exactly those of its list, and the list is the one of `manifest`.
    private func isIntact(_ slot: Sha256, _ manifest: Sha256) throws -> Bool {
        do {
            let found = try FileList(hashes(Slots.content(slot)))
            let path = WholeFiles.join(Slots.folder(slot), Slots.list)
            let list = try WholeFiles.read(storage, path, max: FileList.maxCanonical)
            return found.manifest() == manifest && list == found.canonical()
        } catch StorageError.unsuitable {
            return false
        } catch is PackageError {
            return false
        }
    }

    /// The files below a folder with sizes and digests, at most as many as a list may have.
    private func hashes(_ folder: String) throws -> [ListedFile] {
        var found: [ListedFile] = []
        var folders = [""]
        while let below = folders.popLast() {
            for name in try storage.list(below.isEmpty ? folder : WholeFiles.join(folder, below)) {
                let path = WholeFiles.join(below, name)
                let entry = try storage.entry(WholeFiles.join(folder, path))
                if found.count + folders.count >= 2 * FileList.maxFiles {
                    throw StorageError.unsuitable(path: path)
                }
                switch entry {
                case .folder?:
                    folders.append(path)
                case .file?:
                    found.append(try SlotFiles.hash(storage, folder: folder, path: path))
                default:
                    throw StorageError.unsuitable(path: path)
                }
            }
        }
        return found
    }
}
