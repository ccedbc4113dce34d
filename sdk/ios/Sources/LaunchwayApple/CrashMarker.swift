// A file that says that the previous process ended by a signal, with its stack. The handler does only what is safe in one: it
// writes to a file that is open already, and leaves the rest to the handlers that were there before.

import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

enum CrashMarker {
    private static let file = "crash"
    private static let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP]
    /// The most bytes that are read of a marker.
    private static let maxStack = 8 << 10

    /// The stack in the marker of the previous process; nil if it left none. The marker is gone afterwards.
    static func take(in folder: String) -> String? {
        let path = folder + "/" + file
        guard let handle = FileHandle(forReadingAtPath: path) else {
            return nil
        }
        let bytes = handle.readData(ofLength: maxStack)
        handle.closeFile()
        unlink(path)
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Writes the marker if a signal ends this process.
    static func watch(in folder: String) {
        let opened = open(folder + "/" + file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if opened < 0 {
            return
        }
        // Everything that the handler uses is there before it can run.
        CrashSignals.prepare(opened)
        for signal in signals {
            CrashSignals.watch(signal)
        }
    }
}

/// What the handler uses: memory that is never freed, and no object.
private enum CrashSignals {
    private static let count = 64
    private static let maxFrames: Int32 = 64
    private static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: count)
    private static let frames = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: Int(maxFrames))
    private static let head = UnsafeMutablePointer<UInt8>.allocate(capacity: 10)
    private static let descriptor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    static func prepare(_ opened: Int32) {
        descriptor.pointee = opened
        for (at, letter) in "signal 00\n".utf8.enumerated() {
            head[at] = letter
        }
        previous.initialize(repeating: sigaction(), count: count)
        frames.initialize(repeating: nil, count: Int(maxFrames))
        // The first call may load a library, which a handler must not.
        takeFrames()
    }

    static func watch(_ number: Int32) {
        var action = sigaction()
        sigemptyset(&action.sa_mask)
        // A stack that has run over has no room for a handler, unless somebody gave the thread another one.
        action.sa_flags = Int32(SA_ONSTACK)
        let handler: @convention(c) (Int32) -> Void = { CrashSignals.handle($0) }
        #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = handler
        #else
        action.__sigaction_handler.sa_handler = handler
        #endif
        sigaction(number, &action, previous + Int(number))
    }

    /// Glibc's module for Swift has no stacks, and only tests run there.
    @discardableResult
    private static func takeFrames() -> Int32 {
        #if canImport(Darwin)
        return backtrace(frames, maxFrames)
        #else
        return 0
        #endif
    }

    private static func writeFrames() {
        #if canImport(Darwin)
        backtrace_symbols_fd(frames, takeFrames(), descriptor.pointee)
        #endif
    }

    private static func handle(_ number: Int32) {
        head[7] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        head[8] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
        _ = write(descriptor.pointee, head, 10)
        writeFrames()
        fsync(descriptor.pointee)
        sigaction(number, previous + Int(number), nil)
        if number == SIGABRT {
            // `abort` would not call the previous handler. Other signals are raised again by the code that failed.
            raise(number)
        }
    }
}
