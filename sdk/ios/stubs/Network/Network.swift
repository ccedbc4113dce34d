// The few declarations of the framework Network that the SDK names: enough to check its types on Linux.

import Dispatch

public struct NWPath {
    public enum Status {
        case satisfied, unsatisfied, requiresConnection
    }

    public var status: Status { .unsatisfied }
    public var isExpensive: Bool { false }
    public var isConstrained: Bool { false }
}

public final class NWPathMonitor {
    public init() {}

    public var currentPath: NWPath { NWPath() }

    public func start(queue: DispatchQueue) {}

    public func cancel() {}
}
