// What an app says about itself and about how it wants to be updated.

struct Settings {
    /// The address of the service's API, such as `https://host/api`, without a slash at the end.
    let serverUrl: String
    let bundleId: String
    /// The version of the content inside the binary.
    let version: String
    /// The platform of the binary.
    #if os(visionOS)
    var platform = Platform.visionos
    #else
    var platform = Platform.ios
    #endif
    /// The fingerprint of the binary; nil if it is not known.
    var fingerprint: String?
    /// The configuration whose updates the app takes; nil: the server's default.
    var configuration: String?
    /// The file that the app starts with, which every package must contain.
    var entryFile = "index.html"
    /// How many installed packages are kept, if fewer are needed.
    var keepSlots = 2
    /// Whether packages are downloaded on unmetered connections only.
    var wifiOnly = false

    init(serverUrl: String, bundleId: String, version: String) {
        var address = serverUrl[...]
        while address.utf8.last == UInt8(ascii: "/") {
            address.unicodeScalars.removeLast()
        }
        self.serverUrl = String(address)
        self.bundleId = bundleId
        self.version = version
    }
}
