// What an app calls, the same in every package of the SDK. Results arrive where the app's callbacks are.

public final class Calls {
    public typealias Callback<Value> = (Result<Value, LaunchwayError>) -> Void

    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    /// A call, on the thread of tasks. `finish` is called where the callbacks are, after the callback.
    private func begin<Value>(_ callback: @escaping Callback<Value>, _ answer: @escaping (Session) throws -> Value) {
        let session = self.session
        session.ports.tasks.run {
            let result = Result { try answer(session) }.mapError(LaunchwayError.of)
            session.ports.callbacks.run { callback(result) }
        }
    }

    /// Sets options for this process. `arguments` is a JSON object.
    public func configure(_ arguments: String, _ callback: @escaping Callback<Void>) {
        begin(callback) { session in
            let value = try? JsonReader.read(Utf8.encode(arguments), limit: Bridge.maxArguments)
            guard let members = value?.asObject else {
                throw LaunchwayError(.invalidArgument, "the arguments must be an object")
            }
            try session.configure(members)
        }
    }

    /// Asks the server for an update, and installs nothing.
    public func check(_ callback: @escaping Callback<RoundResult>) {
        join(.check, callback)
    }

    /// Installs the update on offer, and leaves the choice of what the next start tries to `next`.
    public func download(_ callback: @escaping Callback<RoundResult>) {
        join(.download, callback)
    }

    /// Installs the update on offer for the next start. Most apps call this once at their start, and nothing else.
    public func sync(_ callback: @escaping Callback<RoundResult>) {
        join(.sync, callback)
    }

    private func join(_ kind: Rounds.Kind, _ callback: @escaping Callback<RoundResult>) {
        let session = self.session
        session.ports.tasks.run {
            do {
                try session.join(kind, callback)
            } catch {
                let failure = LaunchwayError.of(error)
                session.ports.callbacks.run { callback(.failure(failure)) }
            }
        }
    }

    /// Makes an installed update what the next start tries.
    public func next(_ updateId: String, _ callback: @escaping Callback<UpdateInfo>) {
        begin(callback) { session in
            let parts = try session.works().parts
            guard let chosen = try parts.device.next(updateId) else {
                throw LaunchwayError(.notFound, "no installed update that may run has the id `\(updateId)`")
            }
            parts.rounds.announceNext(UpdateInfo(chosen))
            return UpdateInfo(chosen)
        }
    }

    /// Starts the next content now, if the framework can.
    public func reload(_ callback: @escaping Callback<Void>) {
        let session = self.session
        begin({ (result: Result<() -> Void, LaunchwayError>) in
            callback(result.map { _ in })
            // A script that waits for its answer does not outlive the switch.
            if case .success(let show) = result {
                session.ports.callbacks.run(show)
            }
        }) { session in
            _ = try session.state()
            return try session.switchContent()
        }
    }

    /// Confirms what runs. The result is whether it was a trial.
    public func notifyAppReady(_ callback: @escaping Callback<Bool>) {
        begin(callback) { try $0.works().run.confirm() }
    }

    public func current(_ callback: @escaping Callback<CurrentContent>) {
        begin(callback) { session in
            let (parts, run) = try session.works()
            return Self.describe(run.outcome.content, parts.app.binary, try parts.device.status()?.state)
        }
    }

    private static func describe(_ content: Content, _ binary: Binary, _ state: State?) -> CurrentContent {
        let isTrial = state.map { $0.boot.trial && $0.boot.current == content } ?? false
        guard let slot = content.slot.flatMap({ state?.slot($0) }) else {
            return CurrentContent(
                isEmbedded: content.isEmbedded, updateId: "embedded:\(binary.code)", version: binary.name,
                buildNumber: binary.code, isTrial: isTrial)
        }
        return CurrentContent(
            isEmbedded: false, updateId: slot.updateId, version: slot.version, buildNumber: slot.buildNumber,
            isTrial: isTrial)
    }

    /// What the next start tries; nil: nothing new.
    public func getNext(_ callback: @escaping Callback<UpdateInfo?>) {
        begin(callback) { session in
            let state = try session.state()
            return state.boot.next.flatMap { state.slot($0) }.map { UpdateInfo($0) }
        }
    }

    /// The installed updates.
    public func list(_ callback: @escaping Callback<[UpdateInfo]>) {
        begin(callback) { session in
            _ = try session.state()
            return try session.works().parts.device.list().map { UpdateInfo($0) }
        }
    }

    /// Runs the embedded content from the next start on.
    public func reset(_ callback: @escaping Callback<Void>) {
        begin(callback) { session in
            _ = try session.state()
            let parts = try session.works().parts
            try parts.device.reset()
            parts.rounds.forgetNext()
        }
    }

    /// The last update that failed on this binary; nil: none did.
    public func getFailedUpdate(_ callback: @escaping Callback<FailedInfo?>) {
        begin(callback) { session in
            _ = try session.state()
            return try session.works().parts.device.failed().map { FailedInfo(update: UpdateInfo($0), reason: $0.reason) }
        }
    }

    public func getDeviceId(_ callback: @escaping Callback<String>) {
        begin(callback) { try $0.state().deviceId }
    }
}
