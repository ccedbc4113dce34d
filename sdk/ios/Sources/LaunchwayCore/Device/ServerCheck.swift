// The request for an update (`docs/reference/sdk.md#the-check`).

enum ServerCheck {
    /// The most bytes of an answer.
    private static let maxAnswer = 256 << 10

    static func ask(
        _ network: Network, _ settings: Settings, _ running: Running, deviceId: String, _ caches: Caches
    ) throws -> CheckAnswer {
        let bytes = try fetch(network, Request.forJson(url(settings, running, deviceId), caches))
        guard let answer = try? JsonReader.read(bytes, limit: maxAnswer) else {
            throw CheckError.malformed("it is not strict JSON")
        }
        return try AnswerParser.parse(answer, platform: settings.platform, runningId: running.updateId)
    }

    private static func fetch(_ network: Network, _ request: Request) throws -> [UInt8] {
        do {
            let response = try network.send(request)
            defer { response.close() }
            guard response.status == 200 else {
                throw CheckError.status(response.status, retryAfter: response.retryAfter)
            }
            return try response.readBody(max: maxAnswer)
        } catch let error as CheckError {
            throw error
        } catch {
            throw CheckError.network(error)
        }
    }

    private static func url(_ settings: Settings, _ running: Running, _ deviceId: String) -> String {
        let own: [(name: String, value: String?)] = [
            ("currentVersion", running.version),
            ("currentBuild", running.build),
            ("currentUpdateId", running.updateId),
            ("deviceId", deviceId),
            ("platform", settings.platform.rawValue),
            ("fingerprint", settings.fingerprint),
            ("configuration", settings.configuration),
        ]
        let query = own.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "\(name)=\(PercentEncoding.encode($0))" }
        }
        let path = "\(settings.serverUrl)/update/check/\(PercentEncoding.encode(settings.bundleId))"
        return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
    }
}
