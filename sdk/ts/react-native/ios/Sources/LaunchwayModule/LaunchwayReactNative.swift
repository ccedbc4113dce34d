// Tells the app which bundle to load, and passes calls and events between the module and the client.
import Foundation
#if canImport(LaunchwayApple)
import LaunchwayApple
#endif
#if canImport(LaunchwayCore)
import LaunchwayCore
#endif

@objc(LaunchwayReactNative)
public final class LaunchwayReactNative: NSObject {
    private static let bundle = "main.jsbundle"
    private static let lock = NSLock()
    /// Nil until the app asks: an update that does not run must not be confirmed.
    private static var client: Launchway?
    /// The module that receives the events. After a reload the next one may listen before this one ends.
    private static weak var receiver: AnyObject?
    private static let switcher = BundleSwitcher()

    /// For `bundleURL()` of the app's delegate, which React Native also asks when it reloads. Nil is the bundle of the binary.
    @objc public static func bundleURL() -> URL? {
        let launchway = Launchway.start()
        lock.lock()
        if client == nil {
            client = launchway
            launchway.setSwitcher(switcher)
        }
        lock.unlock()
        return launchway.currentPath()?.appendingPathComponent(bundle)
    }

    @objc static func call(
        _ method: String,
        arguments: String,
        resolve: @escaping (String) -> Void,
        reject: @escaping (String, String) -> Void
    ) {
        guard let client = startedClient() else {
            let message = "the app does not load the bundle of the client; return LaunchwayReactNative.bundleURL() in the app delegate"
            reject("notStarted", message)
            return
        }
        client.bridge.call(method, arguments, resolve: resolve, reject: reject)
    }

    @objc static func listen(_ module: AnyObject, receive: @escaping (String, String) -> Void) {
        lock.lock()
        receiver = module
        lock.unlock()
        startedClient()?.bridge.listen(receive)
    }

    @objc static func stopListening(_ module: AnyObject) {
        lock.lock()
        let isReceiver = receiver === module || receiver == nil
        if isReceiver {
            receiver = nil
        }
        lock.unlock()
        if isReceiver {
            startedClient()?.bridge.listen(nil)
        }
    }

    /// What makes React Native load its bundle anew. The module has it, in Objective-C.
    @objc static func reloadBy(_ reload: @escaping () -> Void) {
        switcher.reloadBundle = reload
    }

    private static func startedClient() -> Launchway? {
        lock.lock()
        defer { lock.unlock() }
        return client
    }
}

/// A reload asks the app's delegate for the bundle again. All of it happens on the main thread.
private final class BundleSwitcher: Switcher {
    var reloadBundle: (() -> Void)?

    func canReload() -> Bool {
        reloadBundle != nil
    }

    func reload(_ folder: URL?) {
        reloadBundle?()
    }
}
