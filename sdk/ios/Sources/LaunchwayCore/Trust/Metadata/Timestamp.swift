// What a timestamp says: the version of the snapshot.

struct Timestamp: MetadataBody {
    static let type = "timestamp"
    static let limit = 4 << 10

    let snapshot: MetaFile

    init(signed: Fields) throws {
        snapshot = try MetaFile(signed.object("meta").value("snapshot.json"))
    }
}
