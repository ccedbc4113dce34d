// A repository of signed updates whose keys a test holds, so that it can sign whatever it wants to.

@testable import LaunchwayCore

struct TestRepository {
    static let now = 1_795_168_800_000
    static let day = 24 * 60 * 60 * 1000
    static let id = String(repeating: "07", count: 16)
    static let package = Sha256.of([1, 2, 3])

    let developers = TestSigner()
    let server = TestSigner()
    /// Signs for `c-production` and `c-other`, so that one could be passed off as the other.
    let updates = TestSigner()
    /// Beside now, in days.
    var lifetime = 100
    var served = ServedFiles()

    /// Serves a root, and one file of every role that it needs.
    init() {
        publish(root(version: 1), as: "1.root.json")
        publish(targets(version: 1), as: "1.targets.json")
        publish(role("c-production", version: 1), as: "1.c-production.json")
        publish(snapshot(version: 1), as: "1.snapshot.json")
        publish(timestamp(version: 1), as: "timestamp.json")
    }

    mutating func publish(_ file: [UInt8], as name: String) {
        served.files[name] = file
    }

    /// The app that carries this root, which is the first unless it is named.
    func open(root: [UInt8]? = nil, stored: StoredTrust? = nil) throws -> TrustClient {
        let file: JsonMembers = [
            "floors": .object([:]), "repository": .text(Self.id), "revoked": .array([]),
            "root": .text(String(decoding: root ?? served.files["1.root.json"] ?? [], as: UTF8.self)),
        ]
        return try TrustClient(
            embedded: TrustFile.parse(Utf8.encode(JsonWriter.plain(.object(file)))), bundleId: "com.example.app",
            configuration: "production", stored: stored)
    }

    /// A file of these members, signed by these keys under the ids of their positions.
    static func file(_ signed: JsonValue, by signers: [(id: String, key: TestSigner)]) -> [UInt8] {
        let message = JsonWriter.canonical(signed)
        let signatures = signers.map { signer in
            JsonValue.object(["keyid": .text(signer.id), "sig": .text(Hex.encode(signer.key.sign(message)))])
        }
        return Utf8.encode(JsonWriter.plain(.object(["signatures": .array(signatures), "signed": signed])))
    }

    /// What every `signed` has.
    func header(_ type: String, version: Int, lifetime days: Int? = nil) -> JsonMembers {
        let expires = IsoTime.write(Self.now + (days ?? lifetime) * Self.day)
        return [
            "_type": .text(type), "spec_version": .text("1.0.31"), "version": .integer(version),
            "expires": .text(String(expires.dropLast(5)) + "Z"),
            "x-launchway": .object(["repository": .text(Self.id), "bundleId": .text("com.example.app")]),
        ]
    }

    private static func keys(_ id: String, threshold: Int = 1) -> JsonMembers {
        ["keyids": .texts([id]), "threshold": .integer(threshold)]
    }

    func root(version: Int, lifetime: Int? = nil) -> [UInt8] {
        var members = header("root", version: version, lifetime: lifetime)
        members["consistent_snapshot"] = .bool(true)
        members["keys"] = .object(["d": developers.listed, "s": server.listed])
        members["roles"] = .object([
            "root": .object(Self.keys("d")), "targets": .object(Self.keys("d")),
            "snapshot": .object(Self.keys("s")), "timestamp": .object(Self.keys("s")),
        ])
        return Self.file(.object(members), by: [("d", developers)])
    }

    func targets(version: Int, keys: JsonMembers? = nil, delegated: JsonMembers? = nil) -> [UInt8] {
        var members = header("targets", version: version)
        members["targets"] = .object([:])
        var role: JsonMembers = delegated ?? Self.keys("u")
        role["name"] = .text("c-production")
        role["paths"] = .texts(["c-production/*/*"])
        role["terminating"] = .bool(true)
        let listed = keys ?? ["u": updates.listed]
        members["delegations"] = .object(["keys": .object(listed), "roles": .array([.object(role)])])
        return Self.file(.object(members), by: [("d", developers)])
    }

    /// A role with one update, 2.0.0 build 2 for iOS.
    func role(
        _ name: String, version: Int, signers: [(id: String, key: TestSigner)]? = nil,
        change: (inout JsonMembers) -> Void = { _ in }
    ) -> [UInt8] {
        var members = header("targets", version: version)
        let custom: JsonMembers = [
            "version": .text("2.0.0"), "buildNumber": .text("2"), "manifest": .text(Self.package.hex),
        ]
        members["targets"] = .object([
            "\(name)/ios/2.0.0_2.zip": .object([
                "length": .integer(3), "hashes": .object(["sha256": .text(Self.package.hex)]), "custom": .object(custom),
            ])
        ])
        change(&members)
        return Self.file(.object(members), by: signers ?? [("u", updates)])
    }

    func snapshot(version: Int, targets: Int = 1, role: Int = 1) -> [UInt8] {
        var members = header("snapshot", version: version)
        members["meta"] = .object([
            "targets.json": .object(["version": .integer(targets)]),
            "c-production.json": .object(["version": .integer(role)]),
        ])
        return Self.file(.object(members), by: [("s", server)])
    }

    func timestamp(version: Int, snapshot: Int = 1) -> [UInt8] {
        var members = header("timestamp", version: version, lifetime: 7)
        members["meta"] = .object(["snapshot.json": .object(["version": .integer(snapshot)])])
        return Self.file(.object(members), by: [("s", server)])
    }

    /// What the client makes of the offer of the update that `role` lists.
    static func offer(_ client: TrustClient, at now: Int) -> String {
        let offer = TrustOffer(platform: .ios, version: "2.0.0", buildNumber: "2", sha256: package, length: 3)
        guard let running = Version.parse("1.0.0") else {
            return "no version"
        }
        let app = RunningApp(platform: .ios, fingerprint: nil, version: running, build: "1")
        do {
            _ = try client.accept(offer, app: app, now: now)
            return "accepted"
        } catch {
            return (error as? Refusal)?.code ?? "\(error)"
        }
    }
}
