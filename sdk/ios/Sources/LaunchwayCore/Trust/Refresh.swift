// One run that renews a phone's metadata, file after file. Store the client's `storedTrust` whenever `take` returns true, before
// the next request, and at the end of the run: a server cannot take back what was stored once.

final class Refresh {
    let client: TrustClient

    private var workflow: Workflow
    private let now: Int
    private var nextRole = 0

    init(_ client: TrustClient, now: Int) {
        self.client = client
        workflow = Workflow(client.trusted, now: now)
        self.now = now
    }

    /// What to fetch next; nil when everything is current.
    func nextRequest() throws -> FileRequest? {
        if let request = try workflow.nextRequest() {
            if case .targets(let version) = request {
                try client.checkFloorOfTargets(version)
            }
            return request
        }
        guard let targets = client.trusted.targets else {
            throw RoleError.missing("targets")
        }
        try client.checkFloorOfTargets(targets.version)
        client.learnTargets()
        while nextRole < client.roles.count {
            let name = client.roles[nextRole]
            switch try client.delegatedState(name, now) {
            case .current:
                client.learnRole(name)
            case .notDelegated:
                client.forgetRevoked(name)
            case .wanted(let version):
                return .role(name: name, version: version)
            }
            nextRole += 1
        }
        return nil
    }

    /// Takes the bytes of the file that was asked for. Returns whether it replaced the trusted one.
    func take(_ bytes: [UInt8]) throws -> Bool {
        switch try nextRequest() {
        case nil:
            return false
        case .role(let name, _):
            try checkContent(name, bytes)
            guard let delegation = client.trusted.delegation(name) else {
                throw RoleError.notListed(name)
            }
            try client.trusted.updateRole(delegation, bytes, now)
            client.learnRole(name)
            nextRole += 1
            return true
        case .root:
            // The last root of a run is trusted even if it has expired.
            defer { client.learnRoot() }
            return try workflow.take(bytes)
        case .targets:
            try checkContent("targets", bytes)
            let isNewer = try workflow.take(bytes)
            client.learnTargets()
            return isNewer
        case .timestamp, .snapshot:
            return try workflow.take(bytes)
        }
    }

    /// The server does not have the file that was asked for.
    func reportMissing() throws {
        guard let request = try nextRequest() else {
            return
        }
        if case .role(let name, _) = request {
            throw RoleError.missing(name)
        }
        try workflow.reportMissing(request)
    }

    /// How far a client came with the answer of one trip.
    enum Progress {
        /// Everything is current.
        case done
        /// There may be more roots: ask again from the version that is trusted now.
        case askAgain
        /// The answer lacks the file that `nextRequest` names: fetch it, and continue with `take`.
        case lacksFile
    }

    /// Takes the files of an answer one after the other. Store what is trusted afterwards, even if a file was refused.
    func takeAnswer(_ answer: TrustAnswer) throws -> Progress {
        var roots = answer.roots[...]
        while let request = try nextRequest() {
            if case .root = request {
                if let root = roots.popFirst() {
                    _ = try take(Utf8.encode(root))
                } else if answer.isFullOfRoots {
                    return .askAgain
                } else {
                    try reportMissing()
                }
            } else if let text = answer.file(request) {
                _ = try take(Utf8.encode(text))
            } else {
                return .lacksFile
            }
        }
        return .done
    }

    /// A file of a targets role does not say of which one it is. Where one key signs for several, a server could pass one
    /// file off as another, and so push up a floor. Hence each role lists targets under its own name only, and `targets`
    /// none; only `targets` delegates.
    private func checkContent(_ role: String, _ bytes: [UInt8]) throws {
        // A file that cannot be read is refused by its reader.
        guard let body = (try? Metadata<Targets>(bytes))?.body else {
            return
        }
        let isOwn: Bool
        if role.isExactly("targets") {
            isOwn = body.targets.isEmpty
        } else {
            isOwn = body.delegations == nil
                && body.targets.names.allSatisfy { $0.utf8.starts(with: (role + "/").utf8) }
        }
        guard isOwn else {
            throw RoleError(role, .otherContent, "lists targets or roles that are not its own")
        }
    }
}
