// For tests: a client that hands over the folder that the test chose, in place of the one that needs UIKit.
import Foundation

public final class Launchway {
    static var shared = Launchway()

    var folder: URL?
    var switcher: Switcher?
    var showsOther = false
    let bridge = TestBridge()

    public static func start() -> Launchway {
        shared
    }

    public func currentPath() -> URL? {
        folder
    }

    public func showsOtherContent() {
        showsOther = true
    }

    public func setSwitcher(_ switcher: Switcher?) {
        self.switcher = switcher
    }
}

/// Answers at once. The test makes its events.
final class TestBridge {
    var calls: [String] = []
    var listener: ((String, String) -> Void)?

    func listen(_ listener: ((String, String) -> Void)?) {
        self.listener = listener
    }

    func call(
        _ method: String, _ arguments: String?, resolve: @escaping (String) -> Void,
        reject: @escaping (_ code: String, _ message: String) -> Void
    ) {
        calls.append("\(method) \(arguments ?? "")")
        method == "sync" ? reject("network", "the server cannot be reached") : resolve("{}")
    }
}
