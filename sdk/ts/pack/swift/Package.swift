// swift-tools-version: 5.9
// The client of Launchway for apps on Apple platforms.
import PackageDescription

let package = Package(
    name: "Launchway",
    platforms: [.iOS(.v13)],
    products: [
        .library(name: "Launchway", targets: ["LaunchwayApple"])
    ],
    targets: [
        .target(
            name: "LaunchwayCore",
            resources: [.copy("PrivacyInfo.xcprivacy")],
            linkerSettings: [.linkedLibrary("z")]
        ),
        .target(name: "LaunchwayApple", dependencies: ["LaunchwayCore"]),
    ]
)
