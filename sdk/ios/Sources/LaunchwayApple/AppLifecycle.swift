// Tells the session when the app enters and leaves the foreground, and when its first frame is drawn.

import Foundation
import LaunchwayCore
#if canImport(UIKit)
import UIKit
#endif

enum AppLifecycle {
    /// After this, the main thread has been idle once since the app became active, and so its first frame is drawn.
    private static let frameDelay = DispatchTimeInterval.milliseconds(50)

    static func follow(_ session: Session) {
        #if canImport(UIKit)
        observe(UIApplication.didFinishLaunchingNotification) { correct(session) }
        observe(UIApplication.willEnterForegroundNotification) { session.onForeground() }
        observe(UIApplication.didBecomeActiveNotification) { activate(session) }
        observe(UIApplication.didEnterBackgroundNotification) { session.onBackground() }
        // The user closes the app while it can be seen, which is no fault of its content.
        observe(UIApplication.willTerminateNotification) { session.onBackground() }
        if Thread.isMainThread, AppWindow.application?.applicationState == .active {
            activate(session)
        }
        #endif
    }

    #if canImport(UIKit)
    /// The observers stay for the life of the process.
    private static func observe(_ name: Notification.Name, _ action: @escaping () -> Void) {
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in action() }
    }

    /// A start that was taken for one with a window, because there was no `UIApplication` yet.
    private static func correct(_ session: Session) {
        if !AppWindow.isExpected {
            session.onBackground()
        }
    }

    private static func activate(_ session: Session) {
        session.onForeground()
        DispatchQueue.main.asyncAfter(deadline: .now() + frameDelay) { session.onFirstFrame() }
    }
    #endif
}
