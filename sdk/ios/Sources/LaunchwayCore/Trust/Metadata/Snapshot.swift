// What a snapshot says: the version of each targets role.

struct Snapshot: MetadataBody {
    static let type = "snapshot"
    static let limit = 16 << 10

    /// Files by name, such as `targets.json`. A role that was removed stays listed.
    let files: TextMap<MetaFile>

    init(signed: Fields) throws {
        files = try signed.object("meta").members.mapValues(MetaFile.init)
    }

    /// What it says about the file of a targets role; nil if it does not list it.
    func role(_ name: String) -> MetaFile? {
        files[name + ".json"]
    }
}
