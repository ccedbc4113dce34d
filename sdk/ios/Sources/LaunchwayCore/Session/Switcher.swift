// Makes the framework show other content while the app runs.

import Foundation

public protocol Switcher: AnyObject {
    /// Whether this framework can, now. Any thread may ask.
    func canReload() -> Bool

    /// Shows the content of the folder; nil is the embedded app. Called where the app's callbacks are.
    func reload(_ folder: URL?)
}
