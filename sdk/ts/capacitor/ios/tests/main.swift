// What the web view of an app for iOS shows, and its calls and events: tests without a framework.
import Capacitor
import Foundation

/// A bridge that remembers what it serves.
final class TestCapacitor: CAPBridgeProtocol {
    let controller = CAPBridgeViewController()
    let config: InstanceConfiguration
    var served: [String] = []
    var viewController: UIViewController? { controller }

    init(_ config: InstanceConfiguration) {
        self.config = config
    }

    func setServerBasePath(_ path: String) {
        served.append(path)
    }
}

let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
let embedded = URL(fileURLWithPath: "/app/public")
var passed = 0

func folder(_ name: String, _ files: [String]) -> URL {
    let folder = root.appendingPathComponent(name)
    try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    files.forEach { _ = FileManager.default.createFile(atPath: folder.appendingPathComponent($0).path, contents: nil) }
    return folder
}

func start(_ folder: URL?, _ config: InstanceConfiguration = InstanceConfiguration(appLocation: embedded)) -> (LaunchwayPlugin, TestCapacitor) {
    Launchway.shared = Launchway()
    Launchway.shared.folder = folder
    let (plugin, bridge) = (LaunchwayPlugin(), TestCapacitor(config))
    plugin.bridge = bridge
    plugin.load()
    return (plugin, bridge)
}

func equal<Value: Equatable>(_ actual: Value, _ expected: Value, _ line: Int = #line) {
    guard actual == expected else {
        print("FAILED line \(line): expected \(expected) and found \(actual)")
        exit(1)
    }
    passed += 1
}

let update = folder("update", ["index.html"])
let bare = folder("bare", [])

// The web view shows the chosen folder, or the one inside the app.
equal(start(update).1.served, [update.path])
equal(Launchway.shared.showsOther, false)
equal(start(nil).1.served, [embedded.path])
equal(Launchway.shared.showsOther, false)
// A folder without its first page is never shown, and the client learns that its choice does not run.
equal(start(bare).1.served, [embedded.path])
equal(Launchway.shared.showsOther, true)
equal(start(update, InstanceConfiguration(appLocation: embedded, appStartPath: "start.html")).1.served, [embedded.path])
let other = InstanceConfiguration(appLocation: URL(fileURLWithPath: "/Library/NoCloud/ionic_built_snapshots/1"))
// Without an app's bundle the folder inside the app is not known here.
equal(start(update, other).1.served, [update.path])

// The app switches while it runs, and back.
let (_, capacitor) = start(nil)
let switcher = Launchway.shared.switcher!
equal(switcher.canReload(), true)
switcher.reload(update)
switcher.reload(bare)
switcher.reload(nil)
equal(capacitor.controller.shown, [update.path, embedded.path, embedded.path])

// The app switches updates off.
for config in [
    InstanceConfiguration(appLocation: embedded, cordovaDeployDisabled: true),
    InstanceConfiguration(appLocation: embedded, serverURL: URL(string: "http://10.0.2.2:5173")),
] {
    let (plugin, bridge) = start(update, config)
    equal(bridge.served, [])
    equal(Launchway.shared.switcher == nil, true)
    equal(Launchway.shared.showsOther, true)
    let call = CAPPluginCall(["method": "sync", "arguments": "{}"])
    plugin.call(call)
    equal(call.answer!.hasPrefix("rejected unavailable: "), true)
    equal(Launchway.shared.bridge.calls, [])
}

// Calls pass texts through, and a rejection has its code.
let (plugin, _) = start(nil)
let next = CAPPluginCall(["method": "next", "arguments": "{\"id\":\"u1\"}"])
plugin.call(next)
equal(next.answer, "resolved [\"result\": \"{}\"]")
let sync = CAPPluginCall(["method": "sync"])
plugin.call(sync)
equal(sync.answer, "rejected network: the server cannot be reached")
equal(Launchway.shared.bridge.calls, ["next {\"id\":\"u1\"}", "sync {}"])
equal(plugin.pluginMethods.map(\.name), ["call"])

// Events reach the page on the main thread; only what happened before may wait for it.
Launchway.shared.bridge.listener!("nextSet", "{}")
Launchway.shared.bridge.listener!("rolledBack", "{}")
equal(plugin.notified, [])
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
equal(plugin.notified, ["launchway nextSet false", "launchway rolledBack true"])

try! FileManager.default.removeItem(at: root)
print("\(passed) claims hold")
