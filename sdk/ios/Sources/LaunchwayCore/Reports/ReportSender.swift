// Sends the reports that wait, with the newest token of each update.

final class ReportSender {
    /// So many reports go in one request.
    private static let batch = 50
    private static let maxAnswer = 4096

    /// How the server took a batch.
    private enum Outcome {
        case counted
        /// It will never count it.
        case rejected
        /// It wants another token, which the next check brings.
        case tokenRefused
        /// It may count it later.
        case retry
    }

    private let queue: ReportQueue
    private let network: Network
    private let url: String
    private let all: [Report]
    /// The places in `all` of the reports that leave the queue.
    private var done: Set<Int> = []
    private var taken = 0

    /// Sends what waits to `url`, the address for reports of the app, and returns how many reports the server took. Reports
    /// that it will never take are dropped; all others stay.
    static func send(_ queue: ReportQueue, over network: Network, to url: String, _ tokens: [ReportToken]) throws -> Int {
        let sender = ReportSender(queue, network, url, try queue.waiting())
        try sender.send(tokens)
        return sender.taken
    }

    private init(_ queue: ReportQueue, _ network: Network, _ url: String, _ all: [Report]) {
        self.queue = queue
        self.network = network
        self.url = url
        self.all = all
    }

    private func send(_ tokens: [ReportToken]) throws {
        for token in tokens {
            if !sendReports(of: token) {
                break
            }
        }
        try queue.remove(done.map { all[$0] })
    }

    /// Sends the reports of one update. Returns whether the server takes more.
    private func sendReports(of token: ReportToken) -> Bool {
        let places = all.indices.filter { all[$0].updateId.isExactly(token.updateId) }
        for start in stride(from: 0, to: places.count, by: Self.batch) {
            let batch = places[start..<min(start + Self.batch, places.count)]
            var outcome = post(token, batch)
            if outcome == .rejected && batch.count > 1 {
                // An older server may not know one kind of report: each for itself.
                outcome = sendEach(token, batch)
            } else {
                settle(batch, outcome)
            }
            if outcome == .tokenRefused {
                return true
            } else if outcome == .retry {
                return false
            }
        }
        return true
    }

    /// Returns what the last request came to.
    private func sendEach(_ token: ReportToken, _ batch: ArraySlice<Int>) -> Outcome {
        for place in batch {
            let outcome = post(token, [place])
            settle([place], outcome)
            if outcome == .tokenRefused || outcome == .retry {
                return outcome
            }
        }
        return .counted
    }

    private func settle(_ places: ArraySlice<Int>, _ outcome: Outcome) {
        if outcome == .counted || outcome == .rejected {
            taken += outcome == .counted ? places.count : 0
            done.formUnion(places)
        }
    }

    private func post(_ token: ReportToken, _ places: ArraySlice<Int>) -> Outcome {
        let body = JsonValue.object([
            "reportToken": .text(token.token),
            "events": .array(places.map { all[$0].json }),
        ])
        guard let response = try? network.send(Request.post(url, json: JsonWriter.plain(body))) else {
            return .retry
        }
        defer { response.close() }
        switch response.status {
        case 200..<300:
            // Reading to the end lets the connection be used again. The status has said everything that matters.
            _ = try? response.readBody(max: Self.maxAnswer)
            return .counted
        case 400 where response.retryAfter == nil:
            return .rejected
        case 401:
            return .tokenRefused
        default:
            return .retry
        }
    }
}
