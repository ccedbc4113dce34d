// What leaves the disk: packages that nobody needs, and partial files that lead nowhere.

struct Cleaning {
    private let setup: Setup
    private let storage: Storage

    init(_ setup: Setup) {
        self.setup = setup
        storage = setup.ports.storage
    }

    /// Removes partial files of other packages: there is room for one.
    func dropOtherParts(_ sha256: Sha256) throws {
        for name in try storage.list(PartialFile.folder) where !name.utf8.starts(with: sha256.hex.utf8) {
            try WholeFiles.removeTree(storage, WholeFiles.join(PartialFile.folder, name))
        }
    }

    /// Removes packages that are no longer needed, and partial files of those that are installed.
    func cleanUp(_ open: OpenState, running: Content) throws {
        // What has no record any more cannot become the next content while it is removed.
        let keep: Set<Sha256> = try setup.memory.alone {
            let keep = kept(open.state, running)
            if open.state.slots.contains(where: { !keep.contains($0.id) }) {
                try open.change { $0.slots.removeAll { !keep.contains($0.id) } }
            }
            return keep
        }
        for name in try storage.list(Slots.folder) {
            let slot = Sha256(name)
            let isKept = slot.map { keep.contains($0) || $0 == running.slot } ?? false
            if !isKept {
                try setup.slots.remove(WholeFiles.join(Slots.folder, name))
            }
        }
        for name in try storage.list(PartialFile.folder) {
            let digits = String(decoding: name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
            if let installed = Sha256(digits), keep.contains(installed) {
                try WholeFiles.removeTree(storage, WholeFiles.join(PartialFile.folder, name))
            }
        }
    }

    /// The packages that are needed, the newest one, and the newest others up to the number of slots.
    private func kept(_ state: State, _ running: Content) -> Set<Sha256> {
        var keep = Set(state.slots.map(\.id).filter { state.boot.needs($0) || $0 == running.slot })
        for (age, slot) in state.slots.reversed().enumerated() {
            // The newest package may wait until the app chooses it, however many are needed.
            let hasRoom = age == 0 || keep.count < setup.settings.keepSlots
            if hasRoom && !state.boot.quarantine.contains(slot.id) {
                keep.insert(slot.id)
            }
        }
        return keep
    }
}
