// swift-tools-version: 5.9
// The client for Apple platforms: a core that is portable and tested on Linux, and what only Apple has.
import PackageDescription

#if os(Linux)
// Apple's SDKs have zlib as a module and CryptoKit; here libcrypto takes CryptoKit's place.
let libraries: [Target] = [
    .systemLibrary(name: "zlib", path: "linux/zlib"),
    .systemLibrary(name: "libcrypto", path: "linux/libcrypto"),
]
let used: [Target.Dependency] = ["zlib", "libcrypto"]
let resources: [Resource] = []
let ignored = ["PrivacyInfo.xcprivacy"]
// A client for the TUF conformance suite, and a phone for the terminal. No app contains them.
let tools: [Target] = [
    .executableTarget(name: "Conformance", dependencies: ["LaunchwayCore"], path: "Tests/Conformance"),
    .executableTarget(name: "launchway-phone", dependencies: ["LaunchwayCore"], path: "Tests/Phone"),
]
// What the SDK names of Apple's frameworks, to check its types. No app contains it.
let stubs: [Target] = [
    .target(name: "UIKit", path: "stubs/UIKit"),
    .target(name: "Network", path: "stubs/Network"),
]
#else
let libraries: [Target] = []
let used: [Target.Dependency] = []
let resources: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let ignored: [String] = []
let tools: [Target] = []
let stubs: [Target] = []
#endif

let core: [Target.Dependency] = ["LaunchwayCore"]
let stubbed: [Target.Dependency] = stubs.map { .target(name: $0.name) }
let apple: [Target.Dependency] = [.target(name: "LaunchwayApple")]

let targets: [Target] = [
    .target(
        name: "LaunchwayCore",
        dependencies: used,
        exclude: ignored,
        resources: resources,
        linkerSettings: [.linkedLibrary("z", .when(platforms: [.iOS, .macOS]))]
    ),
    .target(name: "LaunchwayApple", dependencies: core + stubbed),
    .testTarget(name: "LaunchwayCoreTests", dependencies: core + used),
    .testTarget(name: "LaunchwayAppleTests", dependencies: core + apple + stubbed),
]

let package = Package(
    name: "Launchway",
    platforms: [.iOS(.v13), .macOS(.v10_15)],
    products: [
        .library(name: "LaunchwayCore", targets: ["LaunchwayCore"]),
        .library(name: "LaunchwayApple", targets: ["LaunchwayApple"]),
    ],
    targets: libraries + stubs + tools + targets
)
