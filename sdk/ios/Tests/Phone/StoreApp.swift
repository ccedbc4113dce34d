// The app from the store, as `app.json` in the directory of a phone describes it.
import Foundation

@testable import LaunchwayCore

struct StoreApp {
    private static let maxFile = 1 << 20

    private let platform: Platform
    private let serverUrl: String
    private let bundleId: String
    private let version: String
    private let build: String
    private let configuration: String?
    private let fingerprint: String?
    private let entryFile: String
    /// The text of its trust file; nil if it carries none.
    private let trust: String?
    /// When it was installed and, as far as signed updates are concerned, built: milliseconds since 1970.
    private let installedAt: Int

    /// The app that `init` describes, installed now.
    init(_ arguments: PhoneArguments, now: Int) throws {
        platform = try Self.platform(arguments.platform)
        guard let url = arguments["--url"] ?? ProcessInfo.processInfo.environment["LAUNCHWAY_URL"] else {
            throw PhoneFailure.usage("no server specified", hint: "give --url, or set LAUNCHWAY_URL")
        }
        serverUrl = try Self.api(of: url)
        bundleId = try arguments.required("--bundle-id")
        version = try arguments.required("--version")
        build = try arguments.required("--build")
        configuration = arguments["--configuration"]
        fingerprint = arguments["--fingerprint"]
        entryFile = arguments["--entry-file"] ?? "index.html"
        trust = try arguments["--trust"].map(Self.read)
        installedAt = now
        try checkTrust()
    }

    /// The app that is installed in a directory.
    init(in directory: String) throws {
        guard let data = FileManager.default.contents(atPath: directory + "/app.json") else {
            throw PhoneFailure.noPhone(directory)
        }
        do {
            let fields = try Fields(JsonReader.read([UInt8](data), limit: Self.maxFile), "app.json")
            platform = try Self.platform(fields.text("platform"))
            serverUrl = try Self.api(of: fields.text("serverUrl"))
            bundleId = try fields.text("bundleId")
            version = try fields.text("version")
            build = try fields.text("build")
            configuration = fields.members["configuration"]?.asText
            fingerprint = fields.members["fingerprint"]?.asText
            entryFile = try fields.text("entryFile")
            trust = fields.members["trust"]?.asText
            installedAt = try fields.count("installedAt")
        } catch let error as FormError {
            throw PhoneFailure.failed("\(directory)/app.json is not valid: \(error.message)")
        }
    }

    private static func platform(_ name: String?) throws -> Platform {
        guard let platform = name.flatMap(Platform.init) else {
            throw PhoneFailure.usage("init takes ios, android or visionos")
        }
        return platform
    }

    /// The address as people write it, with `/api` at its end.
    private static func api(of url: String) throws -> String {
        var address = url.trimmingCharacters(in: .whitespaces)
        while address.hasSuffix("/") {
            address.removeLast()
        }
        if !address.hasPrefix("https://") && !address.hasPrefix("http://") {
            throw PhoneFailure.usage("the address of the server must start with https:// or http://")
        }
        return address.hasSuffix("/api") ? address : address + "/api"
    }

    private static func read(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = Utf8.decode([UInt8](data)) else {
            throw PhoneFailure.usage("cannot read \(path)")
        }
        return text
    }

    private func checkTrust() throws {
        guard let trust = trust else {
            return
        }
        do {
            let file = try TrustFile.parse(Utf8.encode(trust))
            _ = try TrustClient(embedded: file, bundleId: bundleId, configuration: configuration, stored: nil)
        } catch let refused as RoleError {
            throw PhoneFailure.failed("the trust file is not valid for this app: \(refused.message)")
        } catch {
            throw PhoneFailure.failed("app.json is not valid: trust: \(errorMessage(error))")
        }
    }

    /// Installs the app in place of the one before.
    func save(in directory: String) throws {
        let text = { (value: String?) in value.map { JsonValue.text($0) } ?? .null }
        let members: TextMap<JsonValue> = [
            "serverUrl": .text(serverUrl), "bundleId": .text(bundleId), "platform": .text(platform.rawValue),
            "version": .text(version), "build": .text(build), "configuration": text(configuration),
            "fingerprint": text(fingerprint), "entryFile": .text(entryFile), "trust": text(trust),
            "installedAt": .integer(installedAt),
        ]
        let file = URL(fileURLWithPath: directory).appendingPathComponent("app.json")
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data((JsonWriter.plain(.object(members)) + "\n").utf8).write(to: file)
        } catch {
            throw PhoneFailure.failed("cannot write \(file.path): \(error.localizedDescription)")
        }
    }

    var settings: Settings {
        var settings = Settings(serverUrl: serverUrl, bundleId: bundleId, version: version)
        settings.platform = platform
        settings.configuration = configuration
        settings.fingerprint = fingerprint
        settings.entryFile = entryFile
        return settings
    }

    func trust(_ ports: Ports) -> UpdateTrust.Opener {
        guard let trust = trust else {
            return { _ in TrustInTheServer() }
        }
        return SignedTrust.opener(ports, settings, trustFile: Utf8.encode(trust), builtAt: installedAt)
    }

    /// A start of the app after a process that ended in this way.
    func launch(_ ending: Ending) -> Launch {
        Launch(binary: Binary(code: build, name: version, installedAt: installedAt), window: true, ending: ending)
    }
}
