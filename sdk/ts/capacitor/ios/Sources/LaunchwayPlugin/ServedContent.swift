// The folder that the web view is served from: that of an update, or the one inside the app.
import Capacitor
import Foundation
#if canImport(LaunchwayApple)
import LaunchwayApple
#endif
#if canImport(LaunchwayCore)
import LaunchwayCore
#endif

final class ServedContent: Switcher {
    /// Where an update service of Capacitor's makers keeps folders, which the bridge may have chosen.
    private static let otherService = "/ionic_built_snapshots/"

    private weak var bridge: CAPBridgeProtocol?
    /// The folder inside the app.
    private let embedded: String

    init(_ bridge: CAPBridgeProtocol) {
        let chosen = bridge.config.appLocation.path
        let isForeign = chosen.contains(ServedContent.otherService)
        let own = Bundle.main.url(forResource: "public", withExtension: nil)?.path
        self.bridge = bridge
        self.embedded = isForeign ? own ?? chosen : chosen
    }

    /// Chooses what the bridge serves when the web view is loaded, which comes next. Returns whether that is the folder.
    func chooseForStart(_ folder: URL?) -> Bool {
        let chosen = path(folder)
        bridge?.setServerBasePath(chosen)
        return chosen == folder?.path ?? embedded
    }

    func canReload() -> Bool {
        bridge?.viewController is CAPBridgeViewController
    }

    func reload(_ folder: URL?) {
        (bridge?.viewController as? CAPBridgeViewController)?.setServerBasePath(path: path(folder))
    }

    /// A folder without the first page would end every start, so it is never handed over.
    private func path(_ folder: URL?) -> String {
        guard let folder = folder else { return embedded }
        let first = folder.appendingPathComponent(bridge?.config.appStartPath ?? "index.html")
        let index = folder.appendingPathComponent("index.html")
        let files = FileManager.default
        return files.fileExists(atPath: index.path) && files.fileExists(atPath: first.path) ? folder.path : embedded
    }
}
