// swift-tools-version: 5.9
// The plugin as a Swift package, for apps of Capacitor 7 and 8. Packing the npm package copies the client beside the plugin.
import PackageDescription

let package = Package(
    name: "LaunchwayCapacitor",
    platforms: [.iOS(.v15)],
    products: [
        .library(name: "LaunchwayCapacitor", targets: ["LaunchwayPlugin"])
    ],
    dependencies: [
        .package(url: "https://github.com/ionic-team/capacitor-swift-pm.git", "7.0.0"..<"9.0.0")
    ],
    targets: [
        .target(
            name: "LaunchwayCore",
            path: "ios/Sources/LaunchwayCore",
            resources: [.copy("PrivacyInfo.xcprivacy")],
            linkerSettings: [.linkedLibrary("z")]
        ),
        .target(
            name: "LaunchwayApple",
            dependencies: ["LaunchwayCore"],
            path: "ios/Sources/LaunchwayApple"
        ),
        .target(
            name: "LaunchwayPlugin",
            dependencies: [
                "LaunchwayApple",
                "LaunchwayCore",
                .product(name: "Capacitor", package: "capacitor-swift-pm"),
                .product(name: "Cordova", package: "capacitor-swift-pm"),
            ],
            path: "ios/Sources/LaunchwayPlugin"
        ),
    ]
)
