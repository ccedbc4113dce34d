// Tells the runtime which folder to start, and passes calls and events between scripts and the client.
import Foundation
#if canImport(LaunchwayApple)
import LaunchwayApple
#endif
#if canImport(LaunchwayCore)
import LaunchwayCore
#endif

@objc(LaunchwayNativeScript)
public final class LaunchwayNativeScript: NSObject {
    /// Nil until the runtime asks: an update that does not run must not be confirmed.
    private static var client: Launchway?
    private static let switcher = RuntimeSwitcher()

    /// For the files that start the runtime, which looks for `app` in the folder. The hook of the package puts the call there.
    @objc(baseDirectory:)
    public static func baseDirectory(_ embedded: String) -> String {
        let launchway = Launchway.start()
        client = launchway
        switcher.embedded = embedded
        launchway.setSwitcher(switcher)
        return RuntimeSwitcher.baseDirectory(launchway.currentPath()) ?? embedded
    }

    @objc(call:arguments:resolve:reject:)
    public static func call(
        _ method: String,
        arguments: String,
        resolve: @escaping (String) -> Void,
        reject: @escaping (String, String) -> Void
    ) {
        guard let client = client else {
            reject("notStarted", "the runtime does not ask for its folder; add the hook of @launchway/nativescript to nativescript.config.ts")
            return
        }
        client.bridge.call(method, arguments, resolve: resolve, reject: reject)
    }

    /// Passes all events to a script; nil ends it.
    @objc(listen:)
    public static func listen(_ receive: ((String, String) -> Void)?) {
        client?.bridge.listen(receive)
    }
}

/// Starts scripts again in the same process, with runtimes that can do that: no released one up to 9.1 can.
private final class RuntimeSwitcher: Switcher {
    /// The folder inside the app.
    var embedded = ""

    /// The runtime adds `app` itself.
    static func baseDirectory(_ folder: URL?) -> String? {
        folder?.deletingLastPathComponent().path
    }

    func canReload() -> Bool {
        RuntimeReload.isThere
    }

    func reload(_ folder: URL?) {
        RuntimeReload.perform(RuntimeSwitcher.baseDirectory(folder) ?? embedded)
    }
}

/// `reloadApplication` of the runtime's class, by its name, as runtimes without it have to link.
private enum RuntimeReload {
    #if canImport(ObjectiveC)
    private static let runtime: AnyObject? = NSClassFromString("NativeScriptRuntime")
    private static let selector = NSSelectorFromString("reloadApplication:")

    static var isThere: Bool {
        runtime?.responds(to: selector) ?? false
    }

    static func perform(_ baseDirectory: String) {
        _ = runtime?.perform(selector, with: baseDirectory)
    }
    #else
    static let isThere = false

    static func perform(_ baseDirectory: String) {}
    #endif
}
