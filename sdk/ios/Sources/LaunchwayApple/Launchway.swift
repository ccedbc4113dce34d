// The SDK in an app for Apple platforms. The first call of `start` decides what the app runs.

import Foundation
import LaunchwayCore

/// Passes the calls and events of frameworks as JSON texts.
public typealias LaunchwayBridge = Bridge

#if canImport(ObjectiveC)
@objc(Launchway)
#endif
public final class Launchway: NSObject {
    private static let shared = Launchway()

    /// What the app calls from scripts.
    public let bridge: LaunchwayBridge

    let session: Session

    private override init() {
        session = ClientStart.session()
        bridge = LaunchwayBridge(session)
        super.init()
    }

    /// Decides what the app runs, the first time. Call it before any content is shown, such as first in
    /// `application(_:didFinishLaunchingWithOptions:)`. Every thread may call it, as often as it likes.
    #if canImport(ObjectiveC)
    @objc
    #endif
    @discardableResult
    public static func start() -> Launchway {
        shared
    }

    /// The folder with the content to run; nil is the content of the store binary.
    #if canImport(ObjectiveC)
    @objc
    #endif
    public func currentPath() -> URL? {
        session.currentFolder
    }

    /// Says that the app shows other content than that of `currentPath`, so that nothing is confirmed or judged.
    public func showsOtherContent() {
        session.onOtherContent()
    }

    /// What shows other content while the app runs; nil: nothing does.
    public func setSwitcher(_ switcher: Switcher?) {
        session.setSwitcher(switcher)
    }
}

// What an app calls in Swift. Results and events arrive on the main thread.
extension Launchway {
    public typealias Callback<Value> = Calls.Callback<Value>

    /// Sets options for this process: a JSON object such as `{"checkOn": "resume"}`.
    public func configure(_ options: String, _ callback: @escaping Callback<Void> = { _ in }) {
        session.calls.configure(options, callback)
    }

    /// Asks the server for an update, and installs nothing.
    public func check(_ callback: @escaping Callback<RoundResult>) {
        session.calls.check(callback)
    }

    /// Installs the update on offer, and leaves the choice of what the next start tries to `next`.
    public func download(_ callback: @escaping Callback<RoundResult>) {
        session.calls.download(callback)
    }

    /// Installs the update on offer for the next start. Most apps call this once at their start, and nothing else.
    public func sync(_ callback: @escaping Callback<RoundResult> = { _ in }) {
        session.calls.sync(callback)
    }

    /// Makes an installed update what the next start tries.
    public func next(_ updateId: String, _ callback: @escaping Callback<UpdateInfo>) {
        session.calls.next(updateId, callback)
    }

    /// Starts the next content now, if there is a switcher that can.
    public func reload(_ callback: @escaping Callback<Void> = { _ in }) {
        session.calls.reload(callback)
    }

    /// Confirms what runs. The result is whether it was a trial.
    public func notifyAppReady(_ callback: @escaping Callback<Bool> = { _ in }) {
        session.calls.notifyAppReady(callback)
    }

    public func current(_ callback: @escaping Callback<CurrentContent>) {
        session.calls.current(callback)
    }

    /// What the next start tries; nil: nothing new.
    public func getNext(_ callback: @escaping Callback<UpdateInfo?>) {
        session.calls.getNext(callback)
    }

    /// The installed updates.
    public func list(_ callback: @escaping Callback<[UpdateInfo]>) {
        session.calls.list(callback)
    }

    /// Runs the embedded content from the next start on.
    public func reset(_ callback: @escaping Callback<Void> = { _ in }) {
        session.calls.reset(callback)
    }

    /// The last update that failed on this binary; nil: none did.
    public func getFailedUpdate(_ callback: @escaping Callback<FailedInfo?>) {
        session.calls.getFailedUpdate(callback)
    }

    public func getDeviceId(_ callback: @escaping Callback<String>) {
        session.calls.getDeviceId(callback)
    }

    /// Passes events to the listener. What the start did reaches the first one. Returns the number by which it is removed.
    @discardableResult
    public func addListener(_ listener: @escaping (LaunchwayEvent) -> Void) -> Int {
        session.addListener(listener)
    }

    public func removeListener(_ number: Int) {
        session.removeListener(number)
    }
}
