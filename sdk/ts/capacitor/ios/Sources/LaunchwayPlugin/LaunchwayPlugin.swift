// Shows in the web view of a Capacitor app what the client chose, and passes the calls of the app and the events for it.
// `load()` comes before the web view is loaded.
import Capacitor
import Foundation
#if canImport(LaunchwayApple)
import LaunchwayApple
#endif

@objc(LaunchwayPlugin)
public final class LaunchwayPlugin: CAPPlugin, CAPBridgedPlugin {
    public let identifier = "LaunchwayPlugin"
    public let jsName = "Launchway"
    public let pluginMethods: [CAPPluginMethod] = [
        CAPPluginMethod(name: "call", returnType: CAPPluginReturnPromise)
    ]

    /// The event of this plugin that carries all events.
    private static let event = "launchway"
    /// Events that wait for a page that listens.
    private static let waiting = ["updateApplied", "updateFailed", "rolledBack"]

    /// Why updates are switched off; nil if they are not.
    private var off: String?
    private var launchway: Launchway?

    override public func load() {
        guard let bridge = bridge else { return }
        let launchway = Launchway.start()
        off = LaunchwayPlugin.reasonToBeOff(bridge.config)
        if off != nil {
            launchway.showsOtherContent()
            return
        }
        let served = ServedContent(bridge)
        if !served.chooseForStart(launchway.currentPath()) {
            launchway.showsOtherContent()
        }
        launchway.setSwitcher(served)
        launchway.bridge.listen { [weak self] name, payload in
            self?.pass(name, payload)
        }
        self.launchway = launchway
    }

    /// By `cordova.preferences` of the Capacitor configuration, or because the content comes from a `server.url`.
    private static func reasonToBeOff(_ config: InstanceConfiguration) -> String? {
        if config.cordovaDeployDisabled {
            return "the preference DisableDeploy switches updates off; remove it"
        }
        return config.serverURL != config.localURL ? "the app loads its content from server.url; remove it" : nil
    }

    @objc func call(_ call: CAPPluginCall) {
        guard let client = launchway?.bridge else {
            call.reject(off ?? "the client did not start", "unavailable")
            return
        }
        client.call(
            call.getString("method") ?? "",
            call.getString("arguments") ?? "{}",
            resolve: { json in call.resolve(["result": json]) },
            reject: { code, message in call.reject(message, code) }
        )
    }

    /// On the main thread, on which pages begin to load and lose their listeners.
    private func pass(_ name: String, _ payload: String) {
        DispatchQueue.main.async {
            self.notifyListeners(
                LaunchwayPlugin.event,
                data: ["name": name, "payload": payload],
                retainUntilConsumed: LaunchwayPlugin.waiting.contains(name)
            )
        }
    }
}
