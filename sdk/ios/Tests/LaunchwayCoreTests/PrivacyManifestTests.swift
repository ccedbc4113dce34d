// The privacy manifest names a reason for each kind of system call that Apple asks about and the sources make.
import Foundation
import XCTest

final class PrivacyManifestTests: XCTestCase {
    private let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// The calls of each category that a program in Swift would make.
    private let calls = [
        "NSPrivacyAccessedAPICategoryFileTimestamp": [
            "stat(", "lstat(", "fstat(", "getattrlist", "creationDate", "modificationDate", "contentModificationDateKey",
        ],
        "NSPrivacyAccessedAPICategoryDiskSpace": [
            "statvfs(", "statfs(", "volumeAvailableCapacity", "systemFreeSize", "systemSize",
        ],
        "NSPrivacyAccessedAPICategorySystemBootTime": ["systemUptime", "mach_absolute_time"],
        "NSPrivacyAccessedAPICategoryUserDefaults": ["UserDefaults"],
        "NSPrivacyAccessedAPICategoryActiveKeyboards": ["activeInputModes"],
    ]

    private func declared() throws -> Set<String> {
        let file = sources.appendingPathComponent("LaunchwayCore/PrivacyInfo.xcprivacy")
        let manifest = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        let types = try XCTUnwrap((manifest as? [String: Any])?["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        for type in types {
            let reasons = type["NSPrivacyAccessedAPITypeReasons"] as? [String]
            XCTAssertEqual(reasons?.isEmpty, false, "each has a reason")
        }
        return Set(types.compactMap { $0["NSPrivacyAccessedAPIType"] as? String })
    }

    func testEachKindOfCallHasItsReason() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        XCTAssertGreaterThan(names.count, 50)
        let code = try names.map { try String(contentsOf: sources.appendingPathComponent($0), encoding: .utf8) }
        let made = calls.filter { category in
            category.value.contains { call in code.contains { $0.contains(call) } }
        }
        XCTAssertEqual(Set(made.keys), try declared())
    }

    func testEveryPackageForAppsBringsTheManifest() throws {
        let sdk = sources.deletingLastPathComponent().deletingLastPathComponent()
        let packages = [
            "ios/Package.swift", "ts/capacitor/Package.swift", "ts/capacitor/LaunchwayCapacitor.podspec",
            "ts/react-native/launchway-react-native.podspec", "ts/nativescript/platforms/ios/launchway/Package.swift",
        ]
        for package in packages {
            let text = try String(contentsOf: sdk.appendingPathComponent(package), encoding: .utf8)
            XCTAssert(text.contains("PrivacyInfo.xcprivacy"), package)
        }
    }
}
