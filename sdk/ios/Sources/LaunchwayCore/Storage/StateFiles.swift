// `state.json` and `boot.json`: how they are read and written (`docs/reference/sdk.md#folder`).

enum StateFiles {
    /// The form of both files. A file of another form is corrupt.
    private static let form = 1
    private static let stateFile = "state.json"
    private static let bootFile = "boot.json"
    /// The most bytes of a state file. Nearly all of it is trusted metadata, which is 2 MiB at most, escaped.
    private static let maxState = 8 << 20
    /// The most bytes of a boot file.
    private static let maxBoot = 64 << 10

    static func loadState(_ storage: Storage) throws -> Found<State> {
        try load(storage, stateFile, max: maxState, read: StateJson.read)
    }

    static func saveState(_ storage: Storage, _ state: State) throws {
        try save(storage, stateFile, StateJson.write(state))
    }

    /// Sets a corrupt state aside, so that the next start begins with an empty state.
    static func setStateAside(_ storage: Storage) throws {
        try storage.rename(stateFile, to: stateFile + ".corrupt")
        try storage.syncFolder("")
    }

    /// The attempt that runs, or ran last; nil if there is none, or none that can be understood.
    static func loadAttempt(_ storage: Storage) throws -> Attempt? {
        try load(storage, bootFile, max: maxBoot, read: StateJson.readAttempt).content
    }

    static func saveAttempt(_ storage: Storage, _ attempt: Attempt) throws {
        try save(storage, bootFile, StateJson.write(attempt))
    }

    private static func load<Value>(
        _ storage: Storage, _ path: String, max: Int, read: (Fields) throws -> Value
    ) throws -> Found<Value> {
        do {
            guard let bytes = try WholeFiles.read(storage, path, max: max) else {
                return .nothing
            }
            let fields = try Fields(JsonReader.read(bytes, limit: max), path)
            return try fields.count("form") == form ? .whole(read(fields)) : .corrupt
        } catch StorageError.unsuitable {
            return .corrupt
        } catch is FormError {
            return .corrupt
        }
    }

    private static func save(_ storage: Storage, _ path: String, _ content: JsonMembers) throws {
        var members = content
        members["form"] = .integer(form)
        try WholeFiles.replace(storage, path, Utf8.encode(JsonWriter.plain(.object(members))))
    }
}
