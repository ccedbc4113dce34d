// One request and its response. The HTTP client fills it on its own thread, and the caller's thread waits and reads.

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class HttpExchange: ResponseBody {
    /// From so many unread bytes on, the HTTP client pauses.
    private static let maxUnread = 1 << 20
    /// The HTTP client may deliver more when it pauses, and the one of Linux does. An exchange that gets too far ahead ends.
    private static let tooManyUnread = 64 << 20
    /// The HTTP client notices silence itself; this is for the case that it does not.
    private static let grace: TimeInterval = 15

    private enum Ending {
        case whole
        case broken(NetworkError)
    }

    private let task: URLSessionDataTask
    private let silenceTimeout: TimeInterval
    /// Guards everything below.
    private let condition = NSCondition()
    private var head: HTTPURLResponse?
    private var ending: Ending?
    private var chunks: [Data] = []
    /// How many bytes of the first chunk are read.
    private var offset = 0
    private var unread = 0
    private var isPaused = false

    init(task: URLSessionDataTask, silenceTimeout: TimeInterval) {
        self.task = task
        self.silenceTimeout = silenceTimeout
    }

    // MARK: The caller's thread

    /// Waits for the status and the header fields.
    func waitForHead() throws -> HTTPURLResponse {
        condition.lock()
        defer { condition.unlock() }
        try wait { head != nil }
        if let head = head {
            return head
        }
        if case .broken(let error)? = ending {
            throw error
        }
        throw NetworkError("the server does not speak HTTP")
    }

    func read(max: Int) throws -> [UInt8] {
        condition.lock()
        defer { condition.unlock() }
        try wait { unread > 0 }
        if unread == 0 {
            if case .broken(let error)? = ending {
                throw error
            }
            return []
        }
        let bytes = take(max)
        if isPaused && unread <= Self.maxUnread / 2 {
            isPaused = false
            task.resume()
        }
        return bytes
    }

    func close() {
        condition.lock()
        ending = ending ?? .whole
        chunks = []
        unread = 0
        condition.unlock()
        // The rest of an endless body is not read to its end.
        task.cancel()
    }

    /// Waits until there is something, or the exchange has ended.
    private func wait(until isThere: () -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: silenceTimeout + Self.grace)
        while !isThere() && ending == nil {
            if !condition.wait(until: deadline) && !isThere() && ending == nil {
                let silence = NetworkError("the server does not respond")
                ending = .broken(silence)
                task.cancel()
                throw silence
            }
        }
    }

    private func take(_ max: Int) -> [UInt8] {
        let chunk = chunks[0]
        let start = chunk.startIndex + offset
        let count = min(max, chunk.count - offset)
        let bytes = [UInt8](chunk[start..<start + count])
        offset += count
        unread -= count
        if offset == chunk.count {
            chunks.removeFirst()
            offset = 0
        }
        return bytes
    }

    // MARK: The HTTP client's thread

    func receive(_ response: URLResponse) {
        change {
            head = response as? HTTPURLResponse
            if head == nil {
                ending = .broken(NetworkError("the server does not speak HTTP"))
            }
        }
    }

    func receive(_ data: Data) {
        guard !data.isEmpty else {
            return
        }
        change {
            guard ending == nil else {
                return
            }
            chunks.append(data)
            unread += data.count
            if unread > Self.tooManyUnread {
                ending = .broken(NetworkError("the server sends faster than the device stores"))
                task.cancel()
            } else if unread > Self.maxUnread && !isPaused {
                isPaused = true
                task.suspend()
            }
        }
    }

    func end(_ error: Error?) {
        change {
            ending = ending ?? error.map { .broken(NetworkError($0.localizedDescription)) } ?? .whole
        }
    }

    private func change(_ change: () -> Void) {
        condition.lock()
        change()
        condition.broadcast()
        condition.unlock()
    }
}
