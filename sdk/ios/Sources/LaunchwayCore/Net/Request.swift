// A request to a server.

struct Request {
    /// The whole address.
    let url: String
    /// Header fields, names in lower case.
    private(set) var headers: [String: String] = [:]
    /// The JSON body of a POST; nil is a GET.
    let body: String?

    /// A request for bytes as they are.
    static func forBytes(_ url: String) -> Request {
        Request(url: url, body: nil).adding("accept-encoding", "identity")
    }

    static func forJson(_ url: String, _ caches: Caches) -> Request {
        let request = forBytes(url).adding("accept", "application/json")
        return caches == .bypassed ? request.adding("cache-control", "no-cache") : request
    }

    static func post(_ url: String, json: String) -> Request {
        Request(url: url, body: json).adding("content-type", "application/json")
    }

    private init(url: String, body: String?) {
        self.url = url
        self.body = body
    }

    /// The same request with one more header field.
    func adding(_ name: String, _ value: String) -> Request {
        var request = self
        request.headers[name] = value
        return request
    }
}
