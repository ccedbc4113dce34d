// Notes an uncaught exception of Objective-C, with its stack, before the handler that was there.

import Foundation
import LaunchwayCore

enum UncaughtExceptions {
    #if canImport(ObjectiveC)
    private static var session: Session?
    private static var previous: (@convention(c) (NSException) -> Void)?
    #endif

    static func watch(_ session: Session) {
        #if canImport(ObjectiveC)
        self.session = session
        previous = NSGetUncaughtExceptionHandler()
        NSSetUncaughtExceptionHandler { exception in
            let lines = ["\(exception.name.rawValue): \(exception.reason ?? "")"] + exception.callStackSymbols
            UncaughtExceptions.session?.onCrash(stack: lines.joined(separator: "\n"))
            UncaughtExceptions.previous?(exception)
        }
        #endif
    }
}
