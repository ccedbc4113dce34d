import LaunchwayApple
import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    /// The SDK decides what the app runs, before any of it is shown.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        Launchway.start().sync()
        return true
    }
}

final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: scene)
        window.rootViewController = PagesController()
        window.makeKeyAndVisible()
        self.window = window
    }
}
