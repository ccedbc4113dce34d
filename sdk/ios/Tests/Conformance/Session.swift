// One run: the workflow over the top-level roles, then over the roles that a target is looked for in.
import Foundation

@testable import LaunchwayCore

final class Session {
    private let arguments: Arguments
    private let trusted: TrustedMetadata
    private let files: MetadataFolder
    private let now = Int(Date().timeIntervalSince1970 * 1000)

    /// Opens what was trusted before.
    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        let files = try MetadataFolder(arguments.metadataFolder)
        guard let root = try files.read("root") else {
            throw Failure("there is no root: use init first")
        }
        trusted = try TrustedMetadata(root: root, identity: nil)
        let text = { (role: String) in try files.read(role).flatMap(Utf8.decode) }
        trusted.restore(
            timestamp: try text("timestamp"), snapshot: try text("snapshot"), targets: try text("targets"),
            roles: TextMap())
        self.files = files
    }

    /// Runs the workflow, and keeps each file as soon as it is trusted.
    func refresh() throws {
        var workflow = Workflow(trusted, now: now)
        while let request = try workflow.nextRequest() {
            let url = "\(arguments.metadataUrl)/\(request.fileName)"
            if let bytes = try fetch(url, limit: request.limit) {
                if try workflow.take(bytes) {
                    try files.write(request.role, bytes)
                }
            } else {
                try workflow.reportMissing(request)
            }
        }
    }

    /// Fetches a target, unless the file is there already.
    func download(_ name: String) throws {
        guard let target = try find(name) else {
            throw Failure("no role has the target \(name)")
        }
        try Artifact(name: name, target: target).download(arguments)
    }

    /// The target of this name, by the first role that has it: depth first, in the order of the delegations, each role once
    /// (section 5.6.7).
    private func find(_ name: String) throws -> SignedTarget? {
        let maxRoles = 256
        var visited = Set(["targets"].map(ExactText.init))
        guard let top = trusted.targets else {
            return nil
        }
        if let target = top.body.targets[name] {
            return target
        }
        // The next one is last.
        var waiting = Search.next(top, name).delegations.reversed() as [Delegation]
        while let delegation = waiting.popLast() {
            guard visited.count < maxRoles, visited.insert(ExactText(delegation.name)).inserted else {
                continue
            }
            let file = try load(delegation)
            if let target = file.body.targets[name] {
                return target
            }
            let next = Search.next(file, name)
            if next.isLast {
                waiting = []
            }
            waiting += next.delegations.reversed()
        }
        return nil
    }

    /// The current file of a role, signed by the keys that the delegation names.
    private func load(_ delegation: Delegation) throws -> Metadata<Targets> {
        let name = delegation.name
        if case .wanted(let version) = try trusted.roleState(delegation, now) {
            // A stored file is taken as if it had just come, so it is held against this delegation too.
            let stored = try files.read(name)
            if stored == nil || (try? trusted.updateRole(delegation, stored ?? [], now)) == nil {
                let request = FileRequest.role(name: PercentEncoding.encode(name), version: version)
                let url = "\(arguments.metadataUrl)/\(request.fileName)"
                guard let bytes = try fetch(url, limit: request.limit) else {
                    throw RoleError.missing(name)
                }
                try trusted.updateRole(delegation, bytes, now)
                try files.write(name, bytes)
            }
        }
        guard let file = trusted.roles[name] else {
            throw RoleError.missing(name)
        }
        return file
    }
}
