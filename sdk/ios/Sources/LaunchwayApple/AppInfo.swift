// What the store binary carries: its identity, and the settings, trust file and fingerprint that `launchway embed` wrote into its
// `Info.plist`.

import Foundation
import LaunchwayCore

struct AppInfo {
    /// The files that frameworks start with, by the class of the package that is only there with them.
    private static let entryFiles = [
        "LaunchwayReactNative": "main.jsbundle",
        "LaunchwayNativeScript": "package.json",
    ]

    let facts: AppFacts
    /// The JSON of the app's settings; nil if there is none.
    let settings: [UInt8]?

    init(_ bundle: Bundle) {
        let files = [bundle.executablePath, bundle.path(forResource: "Info", ofType: "plist")]
        let times = files.compactMap { $0.flatMap(Self.modified) }
        self.init(bundle.infoDictionary ?? [:], installedAt: times.max(), entryFile: Self.entryFile())
    }

    /// `installedAt` is when the files of the binary were written, which differs for each binary that is installed.
    init(_ info: [String: Any], installedAt: Date?, entryFile: String) {
        let text = { (key: String) in info[key] as? String }
        let milliseconds = installedAt.map { Int($0.timeIntervalSince1970 * 1000) } ?? 0
        let binary = Binary(
            code: text("CFBundleVersion") ?? "0", name: text("CFBundleShortVersionString") ?? "0",
            installedAt: milliseconds)
        facts = AppFacts(
            binary: binary, bundleId: text("CFBundleIdentifier") ?? "", entryFile: entryFile,
            fingerprint: text("LaunchwayFingerprint"), trustFile: Self.trustFile(info["LaunchwayTrust"]))
        settings = text("LaunchwaySettings").map { Array($0.utf8) }
    }

    /// A value that is no text is a trust file that cannot be read, with which the app takes no update. It is not taken for
    /// an app without one.
    private static func trustFile(_ value: Any?) -> [UInt8]? {
        value.map { Array((($0 as? String) ?? "").utf8) }
    }

    private static func modified(_ path: String) -> Date? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    }

    private static func entryFile() -> String {
        #if canImport(ObjectiveC)
        for (name, file) in entryFiles where NSClassFromString(name) != nil {
            return file
        }
        #endif
        return "index.html"
    }
}
