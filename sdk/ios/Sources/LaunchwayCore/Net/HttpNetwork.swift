// Reaches servers by the platform's own HTTP client. Nothing is kept: no cookies, no cache, no credentials.

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class HttpNetwork: Network {
    private let metering: () -> Bool
    private let silenceTimeout: TimeInterval
    private let exchanges = HttpExchanges()
    private let session: URLSession

    /// `metering` says whether the connection of the device costs nothing by the byte, which only the platform knows.
    init(silenceTimeout: TimeInterval = 30, metering: @escaping () -> Bool) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = silenceTimeout
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        self.metering = metering
        self.silenceTimeout = silenceTimeout
        self.session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: queue)
    }

    deinit {
        // A session keeps its delegate until it is invalidated.
        session.invalidateAndCancel()
    }

    var isUnmetered: Bool { metering() }

    func send(_ request: Request) throws -> Response {
        let task = session.dataTask(with: try message(of: request))
        let exchange = HttpExchange(task: task, silenceTimeout: silenceTimeout)
        exchanges.add(exchange, of: task)
        task.resume()
        let head = try exchange.waitForHead()
        let headers = head.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
        return Response(status: head.statusCode, headers: headers, body: exchange)
    }

    private func message(of request: Request) throws -> URLRequest {
        guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(),
            scheme == "https" || scheme == "http", url.host != nil
        else {
            throw NetworkError("the address is not one of HTTP")
        }
        var message = URLRequest(url: url, timeoutInterval: silenceTimeout)
        for (name, value) in request.headers {
            message.setValue(value, forHTTPHeaderField: name)
        }
        if let body = request.body {
            message.httpMethod = "POST"
            message.httpBody = Data(body.utf8)
        }
        return message
    }
}

/// Passes what the HTTP client says on to the exchange that it is about. The lock makes it safe for several threads.
private final class HttpExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var running: [Int: HttpExchange] = [:]

    func add(_ exchange: HttpExchange, of task: URLSessionTask) {
        lock.lock()
        running[task.taskIdentifier] = exchange
        lock.unlock()
    }

    private func exchange(of task: URLSessionTask, ends: Bool = false) -> HttpExchange? {
        lock.lock()
        defer { lock.unlock() }
        return ends ? running.removeValue(forKey: task.taskIdentifier) : running[task.taskIdentifier]
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // The redirect is the response.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        exchange(of: task, ends: true)?.end(error)
    }
}
