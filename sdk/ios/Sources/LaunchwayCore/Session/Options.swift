// How an app wants to be updated: what its settings say, and what `configure` changes for this process. Checked when it is made.

struct Options {
    /// When the client asks the server by itself. The raw value of these is the name in every language.
    enum CheckOn: String, CaseIterable {
        /// Once, after the first frame.
        case launch
        /// After the first frame, and when the app returns to the foreground.
        case resume
        /// Never.
        case manual
    }

    /// When an update that was downloaded begins to run.
    enum Apply: String, CaseIterable {
        case nextLaunch
        /// When the app leaves the foreground, where the framework can switch.
        case onBackground
        /// At once, where the framework can switch.
        case immediate
    }

    /// What proves that an update works.
    enum ReadyMode: String, CaseIterable {
        /// `sync()` was called and the first frame was drawn.
        case auto
        /// The app says so.
        case manual
    }

    private static let maxFile = 64 << 10
    private static let minReadyTimeoutMs = 1_000
    private static let maxReadyTimeoutMs = 600_000
    private static let maxKeptSlots = 10

    /// The address of the service's API; nil: not configured.
    let serverUrl: String?
    /// Nil: the app's own id.
    let bundleId: String?
    /// Nil: the server's default.
    let configuration: String?
    let checkOn: CheckOn
    let apply: Apply
    let readyMode: ReadyMode
    let readyTimeoutMs: Int
    let wifiOnly: Bool
    let keepSlots: Int
    /// The file that every package must contain; nil: the framework's.
    let entryFile: String?
    /// When the binary was built, in milliseconds since 1970; nil if it does not say.
    let builtAt: Int?

    private let members: TextMap<JsonValue>

    private init(_ members: TextMap<JsonValue>) throws {
        self.members = members
        let reader = OptionReader(members: members)
        serverUrl = try reader.address("serverUrl")
        bundleId = try reader.bundleId("bundleId")
        configuration = try reader.configuration("configuration")
        checkOn = try reader.choice("checkOn")
        apply = try reader.choice("apply")
        readyMode = try reader.choice("readyMode")
        readyTimeoutMs = try reader.number(
            "readyTimeoutMs", otherwise: 20_000, min: Self.minReadyTimeoutMs, max: Self.maxReadyTimeoutMs)
        wifiOnly = try reader.flag("wifiOnly")
        keepSlots = try reader.number("keepSlots", otherwise: 2, min: 1, max: Self.maxKeptSlots)
        entryFile = try reader.path("entryFile")
        let builtAt = try reader.number("builtAt", otherwise: 0, min: 0, max: JsonValue.maxInteger)
        self.builtAt = builtAt == 0 ? nil : builtAt
    }

    /// What holds for an app that says nothing.
    static func defaults() -> Options {
        guard let options = try? Options(TextMap()) else {
            preconditionFailure("no option is wrong where none is set")
        }
        return options
    }

    /// Reads the settings that the binary carries. Names that are not known are ignored: a newer command line may have
    /// written them.
    static func read(_ json: [UInt8]) throws -> Options {
        guard let members = try JsonReader.read(json, limit: maxFile).asObject else {
            throw FormError("is not an object")
        }
        return try Options(members)
    }

    /// These options with those that `configure` was called with. A name that is not an option is an error.
    func with(_ arguments: TextMap<JsonValue>) throws -> Options {
        var merged = members
        for name in arguments.names {
            if !OptionReader.configurable.contains(ExactText(name)) {
                throw FormError("`\(name)` is not an option")
            }
            merged[name] = arguments[name]
        }
        return try Options(merged)
    }
}
