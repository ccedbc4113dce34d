// Whether the connection of the device costs nothing by the byte.

import Foundation

#if canImport(Network)
import Network

final class Connection {
    private let monitor = NWPathMonitor()

    init() {
        monitor.start(queue: DispatchQueue(label: "dev.launchway.connection", qos: .utility))
    }

    deinit {
        monitor.cancel()
    }

    /// False as long as the system does not say.
    var isUnmetered: Bool {
        let path = monitor.currentPath
        return path.status == .satisfied && !path.isExpensive && !path.isConstrained
    }
}
#else
final class Connection {
    let isUnmetered = true
}
#endif
