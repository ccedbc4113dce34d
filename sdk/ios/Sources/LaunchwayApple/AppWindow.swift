// Whether this start of the app shows a window. Only such a start tries an update.

import Foundation

#if canImport(UIKit)
import UIKit
#endif

enum AppWindow {
    /// The system starts apps ahead of time up to the point where they would create their `UIApplication`. The variable stays
    /// set when the user opens the app later, so it counts before that point only.
    private static let prewarm = "ActivePrewarm"

    static var isExpected: Bool {
        #if canImport(UIKit)
        if Thread.isMainThread, let application = application {
            return isExpected(in: application)
        }
        #endif
        return isExpected(ProcessInfo.processInfo.environment)
    }

    /// Before there is a `UIApplication`. A start in the background is noticed later, by `AppLifecycle`.
    static func isExpected(_ environment: [String: String]) -> Bool {
        environment[prewarm] != "1"
    }

    #if canImport(UIKit)
    /// Nil before `UIApplicationMain` has created it.
    static var application: UIApplication? {
        #if canImport(ObjectiveC)
        return UIApplication.value(forKey: "sharedApplication") as? UIApplication
        #else
        return UIApplication.shared
        #endif
    }

    /// An app with scenes is in the state of the background until one of them enters the foreground, at a start by the user
    /// too. Its scenes know better.
    private static func isExpected(in application: UIApplication) -> Bool {
        if Bundle.main.object(forInfoDictionaryKey: "UIApplicationSceneManifest") == nil {
            return application.applicationState != .background
        }
        let scenes = application.connectedScenes
        return scenes.isEmpty || scenes.contains { $0.activationState != .background }
    }
    #endif
}
