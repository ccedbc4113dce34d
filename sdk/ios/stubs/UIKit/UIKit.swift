// The few declarations of UIKit that the SDK names: enough to check its types on Linux. They do nothing, and no app contains them.

@_exported import Foundation

public class UIScene: NSObject {
    public enum ActivationState: Int {
        case unattached, foregroundActive, foregroundInactive, background
    }

    public var activationState: ActivationState { .unattached }
}

public class UIApplication: NSObject {
    public enum State: Int {
        case active, inactive, background
    }

    public static let didFinishLaunchingNotification = Notification.Name("UIApplicationDidFinishLaunchingNotification")
    public static let willEnterForegroundNotification = Notification.Name("UIApplicationWillEnterForegroundNotification")
    public static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")
    public static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
    public static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")

    public static let shared = UIApplication()

    public var applicationState = State.inactive
    public var connectedScenes: Set<UIScene> { [] }
}
