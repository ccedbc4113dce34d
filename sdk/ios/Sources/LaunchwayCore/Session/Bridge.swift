// The calls and events of a session as JSON texts, for frameworks that pass them to a script and back.

import Foundation

public final class Bridge {
    public typealias Listener = (_ name: String, _ payload: String) -> Void

    static let maxArguments = 64 << 10

    /// Where the answer to a call goes: one of the two, once.
    private struct Reply {
        let resolve: (String) -> Void
        let reject: (String, String) -> Void

        func pass<Value>(_ encode: @escaping (Value) -> JsonValue) -> Calls.Callback<Value> {
            { result in
                switch result {
                case .success(let value): resolve(JsonWriter.ascii(encode(value)))
                case .failure(let error): reject(error.code.rawValue, error.message)
                }
            }
        }

        /// The value as the only member of an object.
        func pass<Value>(as name: String, _ encode: @escaping (Value) -> JsonValue) -> Calls.Callback<Value> {
            pass { .object([name: encode($0)]) }
        }

        func passNothing() -> Calls.Callback<Void> {
            pass { .object([:]) }
        }
    }

    private let session: Session
    private let calls: Calls
    private let lock = NSLock()
    /// The number of the listener that passes events to the script; nil: nobody listens.
    private var listening: Int?

    public init(_ session: Session) {
        self.session = session
        calls = session.calls
    }

    /// Passes events to the listener from now on, and to nobody else; nil ends it.
    public func listen(_ listener: Listener?) {
        lock.lock()
        defer { lock.unlock() }
        if let listening = listening {
            session.removeListener(listening)
        }
        listening = listener.map { listener in
            session.addListener { listener($0.kind.rawValue, JsonWriter.ascii($0.payload)) }
        }
    }

    /// Calls a method. `arguments` is a JSON object; nil or an empty text is an empty one.
    public func call(
        _ method: String, _ arguments: String?, resolve: @escaping (String) -> Void,
        reject: @escaping (_ code: String, _ message: String) -> Void
    ) {
        let reply = Reply(resolve: resolve, reject: reject)
        let text = arguments.flatMap { $0.isEmpty ? nil : $0 } ?? "{}"
        let given: JsonValue
        do {
            given = try JsonReader.read(Utf8.encode(text), limit: Self.maxArguments)
        } catch {
            return refuse(reply, "the arguments are not valid: it \(errorMessage(error))")
        }
        guard let members = given.asObject else {
            return refuse(reply, "the arguments must be an object")
        }
        if method == "configure" {
            calls.configure(text, reply.passNothing())
        } else if method == "next" {
            next(members, reply)
        } else if !members.isEmpty {
            refuse(reply, "\(method) takes no arguments")
        } else if !callRound(method, reply) && !callOther(method, reply) {
            refuse(reply, "`\(method)` is not a method")
        }
    }

    private func next(_ members: TextMap<JsonValue>, _ reply: Reply) {
        guard let id = members["id"]?.asText, !id.isEmpty, members.count == 1 else {
            return refuse(reply, "next takes the id of an update")
        }
        calls.next(id, reply.pass(as: "update") { $0.json })
    }

    private func callRound(_ method: String, _ reply: Reply) -> Bool {
        let result: Calls.Callback<RoundResult> = reply.pass { $0.json }
        switch method {
        case "check": calls.check(result)
        case "download": calls.download(result)
        case "sync": calls.sync(result)
        default: return false
        }
        return true
    }

    private func callOther(_ method: String, _ reply: Reply) -> Bool {
        switch method {
        case "reload": calls.reload(reply.passNothing())
        case "reset": calls.reset(reply.passNothing())
        case "notifyAppReady": calls.notifyAppReady(reply.pass(as: "confirmed") { .bool($0) })
        case "getDeviceId": calls.getDeviceId(reply.pass(as: "deviceId") { .text($0) })
        case "current": calls.current(reply.pass { $0.json })
        case "getNext": calls.getNext(reply.pass(as: "update") { $0?.json ?? .null })
        case "list": calls.list(reply.pass(as: "updates") { .array($0.map(\.json)) })
        case "getFailedUpdate": calls.getFailedUpdate(reply.pass { FailedInfo.json($0) })
        default: return false
        }
        return true
    }

    private func refuse(_ reply: Reply, _ message: String) {
        session.ports.callbacks.run { reply.reject(ErrorCode.invalidArgument.rawValue, message) }
    }
}
