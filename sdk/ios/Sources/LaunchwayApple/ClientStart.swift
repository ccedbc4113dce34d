// Starts the client in an app, with what the binary carries and what the system says.

import Foundation
import LaunchwayCore

enum ClientStart {
    static func session() -> Session {
        // An extension is another process of the app, with another life and little memory.
        if Bundle.main.bundlePath.hasSuffix(".appex") {
            return .off("an app extension runs the content of the store binary")
        }
        let info = AppInfo(Bundle.main)
        let folder: String
        do {
            folder = try ClientFolder.prepare()
        } catch {
            return .off("the folder of the client cannot be used: \(error.localizedDescription)")
        }
        let crash = CrashMarker.take(in: folder)
        let connection = Connection()
        let session = Session.start(
            info.facts, settings: info.settings, folder: folder, metering: { connection.isUnmetered },
            hasWindow: AppWindow.isExpected, crash: crash)
        CrashMarker.watch(in: folder)
        UncaughtExceptions.watch(session)
        AppLifecycle.follow(session)
        return session
    }
}
