// Threads and time by Dispatch, which every platform of Swift has.

import Dispatch
import Foundation

/// A queue that executes one task after another.
struct DispatchWorker: Worker {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    init(_ name: String, _ quality: DispatchQoS) {
        queue = DispatchQueue(label: "dev.launchway.\(name)", qos: quality)
    }

    func run(_ task: @escaping () -> Void) {
        queue.async(execute: DispatchWorkItem(block: task))
    }
}

struct DispatchTimer: SessionTimer {
    private let queue = DispatchQueue(label: "dev.launchway.timer", qos: .utility)

    var now: Int {
        Int(DispatchTime.now().uptimeNanoseconds / 1_000_000)
    }

    func after(_ milliseconds: Int, _ task: @escaping () -> Void) -> Alarm {
        let item = DispatchWorkItem(block: task)
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: item)
        return DispatchAlarm(item: item)
    }
}

private struct DispatchAlarm: Alarm {
    let item: DispatchWorkItem

    func cancel() {
        item.cancel()
    }
}

/// The clock of the device.
struct SystemClock: Clock {
    var now: Int {
        Int(Date().timeIntervalSince1970 * 1000)
    }

    func pause(_ milliseconds: Int) {
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
    }
}

extension SessionPorts {
    /// The app's own code is called on the main thread.
    static func dispatched() -> SessionPorts {
        SessionPorts(
            rounds: DispatchWorker("rounds", .utility), tasks: DispatchWorker("tasks", .userInitiated),
            callbacks: DispatchWorker(.main), timer: DispatchTimer())
    }
}

extension Session {
    /// A session on this device.
    ///
    /// - Parameters:
    ///   - settings: the JSON of the app's settings; nil if the binary carries none. Without any that can be read, the embedded
    ///     app runs until `configure` is called
    ///   - folder: the client's own folder
    ///   - metering: whether the connection of the device costs nothing by the byte
    ///   - hasWindow: whether a window is shown
    ///   - crash: the stack where a signal ended the previous process; nil if none did
    public static func start(
        _ app: AppFacts, settings: [UInt8]?, folder: String, metering: @escaping () -> Bool, hasWindow: Bool, crash: String?
    ) -> Session {
        let ports = SessionPorts.dispatched()
        let options = settings.flatMap { try? Options.read($0) } ?? .defaults()
        let storage: Folder
        do {
            storage = try Folder(folder)
        } catch {
            return off(LaunchwayError.of(error), ports)
        }
        let random = { (count: Int) in (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
        let devicePorts = Ports(
            storage: storage, network: HttpNetwork(metering: metering), clock: SystemClock(), random: random)
        return start(
            app, options, devicePorts, folder: folder, ports, window: hasWindow,
            ending: crash == nil ? .unexplained : .nativeCrash, stack: crash)
    }

    /// A session in which the SDK is switched off: the embedded app runs, and every call fails.
    public static func off(_ message: String) -> Session {
        off(LaunchwayError(.unavailable, message), .dispatched())
    }
}
