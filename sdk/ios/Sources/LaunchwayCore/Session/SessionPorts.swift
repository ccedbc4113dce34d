// Threads and time of the platform.

struct SessionPorts {
    /// Where rounds with the server run, for minutes perhaps.
    let rounds: Worker
    /// Where everything else runs, which is fast.
    let tasks: Worker
    /// Where the app's own code is called.
    let callbacks: Worker
    let timer: SessionTimer
}

/// Executes tasks one after another, in the order in which they arrive, and never on the caller's stack.
protocol Worker {
    func run(_ task: @escaping () -> Void)
}

/// Calls back later, on a thread of its own.
protocol SessionTimer {
    /// Milliseconds on a clock that only moves forward.
    var now: Int { get }

    func after(_ milliseconds: Int, _ task: @escaping () -> Void) -> Alarm
}

/// A call that was asked for.
protocol Alarm {
    /// Prevents the call, unless it has begun.
    func cancel()
}
