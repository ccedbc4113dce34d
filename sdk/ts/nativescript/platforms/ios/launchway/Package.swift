// swift-tools-version: 5.9
// The client as a Swift package, which the NativeScript command line adds to the Xcode project. Packing the npm package
// copies the sources here.
import PackageDescription

let package = Package(
    name: "Launchway",
    platforms: [.iOS(.v13)],
    products: [
        .library(name: "LaunchwayApple", targets: ["LaunchwayApple", "LaunchwayCore"])
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
