// The server's metadata of one app: in one trip, or file by file where the server does not answer that.

struct MetadataSource {
    /// Stores what is trusted by now. Its error ends the run.
    typealias Keeper = () throws -> Void

    private static let api = "/api"

    private let network: Network
    private let configuration: String?
    private let caches: Caches
    /// The address of the metadata, with a slash at the end.
    private let base: String

    init(_ network: Network, _ settings: Settings, _ caches: Caches) {
        self.network = network
        self.caches = caches
        configuration = settings.configuration
        var host = settings.serverUrl
        if host.hasSuffix(Self.api) {
            host.removeLast(Self.api.count)
        }
        base = "\(host)/tuf/\(PercentEncoding.encode(settings.bundleId))/"
    }

    /// Renews the metadata of a client.
    func renew(_ refresh: Refresh, _ keep: Keeper) throws {
        while let answer = try answer(to: refresh.client) {
            if try take(answer, refresh, keep) {
                return
            }
        }
        while let request = try refresh.nextRequest() {
            try fetch(request, refresh, keep)
        }
    }

    /// Takes what one answer holds, and fetches files that it lacks. Returns whether everything is current.
    private func take(_ answer: TrustAnswer, _ refresh: Refresh, _ keep: Keeper) throws -> Bool {
        while true {
            let progress = Result { try refresh.takeAnswer(answer) }
            try keep()
            switch try progress.get() {
            case .done:
                return true
            case .askAgain:
                return false
            case .lacksFile:
                guard let request = try refresh.nextRequest() else {
                    return true
                }
                try fetch(request, refresh, keep)
            }
        }
    }

    private func fetch(_ request: FileRequest, _ refresh: Refresh, _ keep: Keeper) throws {
        guard let bytes = try get(PercentEncoding.encode(request.fileName), limit: request.limit) else {
            try refresh.reportMissing()
            return
        }
        if try refresh.take(bytes) {
            try keep()
        }
    }

    /// Everything that is newer than what is trusted; nil: the server does not answer that.
    private func answer(to client: TrustClient) throws -> TrustAnswer? {
        var query = "trust?root=\(client.rootVersion)&snapshot=\(client.snapshotVersion)"
        if let configuration = configuration {
            query += "&configuration=\(PercentEncoding.encode(configuration))"
        }
        return try get(query, limit: TrustAnswer.maxBytes).flatMap { try? TrustAnswer.parse($0) }
    }

    /// The bytes of a file, up to one more than allowed; nil if the server has none.
    private func get(_ file: String, limit: Int) throws -> [UInt8]? {
        do {
            let response = try network.send(Request.forJson(base + file, caches))
            defer { response.close() }
            switch response.status {
            case 200:
                return try response.readBody(max: limit)
            case 404:
                return nil
            default:
                let request = "the request for `\(file)`"
                throw TrustError.outOfReach("the server responded with status \(response.status) to \(request)")
            }
        } catch let error as TrustError {
            throw error
        } catch {
            throw TrustError.outOfReach("cannot fetch metadata: \(errorMessage(error))")
        }
    }
}
