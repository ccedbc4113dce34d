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
// A client for the TUF conformance suite, which no app contains.
let tools: [Target] = [
    .executableTarget(name: "Conformance", dependencies: ["LaunchwayCore"], path: "Tests/Conformance")
]
#else
let libraries: [Target] = []
let used: [Target.Dependency] = []
let resources: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let ignored: [String] = []
let tools: [Target] = []
#endif

let package = Package(
    name: "Launchway",
    platforms: [.iOS(.v13), .macOS(.v10_15)],
    products: [
        .library(name: "LaunchwayCore", targets: ["LaunchwayCore"]),
        .library(name: "LaunchwayApple", targets: ["LaunchwayApple"]),
    ],
    targets: libraries + [
        .target(
            name: "LaunchwayCore",
            dependencies: used,
            exclude: ignored,
            resources: resources,
            linkerSettings: [.linkedLibrary("z", .when(platforms: [.iOS, .macOS]))]
        ),
        .target(name: "LaunchwayApple", dependencies: ["LaunchwayCore"]),
        .testTarget(name: "LaunchwayCoreTests", dependencies: ["LaunchwayCore"] + used),
    ] + tools
)
