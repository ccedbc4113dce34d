// A folder of its own for a test, removed with the last reference.
import Foundation

@testable import LaunchwayCore

final class TemporaryFolder {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "launchway-" + UUID().uuidString
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func open() throws -> Folder {
        try Folder(path + "/launchway")
    }
}
