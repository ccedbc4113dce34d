// For tests on Linux: the part of the module of the same name that the plugin uses, without Objective-C.
import Foundation

open class UIViewController {
    public init() {}
}

open class CAPBridgeViewController: UIViewController {
    public private(set) var shown: [String] = []

    public func setServerBasePath(path: String) {
        shown.append(path)
    }
}

public final class InstanceConfiguration {
    public let localURL: URL
    public let serverURL: URL
    public let cordovaDeployDisabled: Bool
    public let appLocation: URL
    public let appStartPath: String?

    public init(appLocation: URL, serverURL: URL? = nil, cordovaDeployDisabled: Bool = false, appStartPath: String? = nil) {
        localURL = URL(string: "capacitor://localhost")!
        self.serverURL = serverURL ?? localURL
        self.cordovaDeployDisabled = cordovaDeployDisabled
        self.appLocation = appLocation
        self.appStartPath = appStartPath
    }
}

public protocol CAPBridgeProtocol: AnyObject {
    var viewController: UIViewController? { get }
    var config: InstanceConfiguration { get }
    func setServerBasePath(_ path: String)
}

public let CAPPluginReturnPromise = "promise"

public final class CAPPluginMethod {
    public let name: String

    public init(name: String, returnType: String) {
        self.name = name
    }
}

public protocol CAPBridgedPlugin {
    var identifier: String { get }
    var jsName: String { get }
    var pluginMethods: [CAPPluginMethod] { get }
}

public final class CAPPluginCall {
    private let options: [String: String]
    public private(set) var answer: String?

    public init(_ options: [String: String]) {
        self.options = options
    }

    public func getString(_ key: String) -> String? {
        options[key]
    }

    public func resolve(_ data: [String: Any] = [:]) {
        answer = "resolved \(data)"
    }

    public func reject(_ message: String, _ code: String? = nil, _ error: Error? = nil, _ data: [String: Any]? = nil) {
        answer = "rejected \(code ?? ""): \(message)"
    }
}

open class CAPPlugin {
    public var bridge: CAPBridgeProtocol?
    public private(set) var notified: [String] = []

    public init() {}

    open func load() {}

    public func notifyListeners(_ eventName: String, data: [String: Any]?, retainUntilConsumed: Bool) {
        notified.append("\(eventName) \(data?["name"] ?? "") \(retainUntilConsumed)")
    }
}
