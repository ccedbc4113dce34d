// A phone with the app `com.example.app` 1.0.0: its disk and clock, and processes that run on them.

@testable import LaunchwayCore

final class Phone {
    let storage: Storage
    let clock = TestClock()
    var settings: Settings
    /// The trust file that the app carries, and when it was built; nil: it carries none.
    var trustFile: [UInt8]?
    var builtAt = 0

    init(_ storage: Storage = MemoryDisk()) {
        self.storage = storage
        settings = Settings(serverUrl: "https://host/api", bundleId: "com.example.app", version: "1.0.0")
        settings.configuration = "production"
    }

    /// A process of the app. Its random bytes are all 7.
    func process(_ network: Network) throws -> Device {
        let random = { (count: Int) in [UInt8](repeating: 7, count: count) }
        let ports = Ports(storage: storage, network: network, clock: clock, random: random)
        let trust = trustFile.map { SignedTrust.opener(ports, settings, trustFile: $0, builtAt: builtAt) }
        return try Device(ports, settings, trust: trust ?? { _ in TrustInTheServer() })
    }

    /// A start with a window.
    static func launch(_ ending: Ending = .explained, code: String = "1") -> Launch {
        Launch(binary: Binary(code: code, name: "1.0.0", installedAt: 1), window: true, ending: ending)
    }
}

/// A clock that tests set, and that notes how long it was asked to wait.
final class TestClock: Clock {
    var now = 1_795_255_200_000
    var pauses: [Int] = []

    func pause(_ milliseconds: Int) {
        pauses.append(milliseconds)
    }
}

extension Device {
    /// A start that the operating system explains. Returns what runs.
    func start() -> Content {
        start(Phone.launch()).content
    }
}

extension SyncOutcome {
    /// The outcome and the id of its update.
    var text: String {
        switch self {
        case .nothing: return "nothing"
        case .storeUpdateRequired(let reason): return "storeUpdateRequired \(reason)"
        case .staged(let offer): return "staged \(offer.id)"
        case .downloaded(let offer): return "downloaded \(offer.id)"
        case .sameBytes(let offer): return "sameBytes \(offer.id)"
        case .quarantined(let offer): return "quarantined \(offer.id)"
        case .waitsForWifi(let offer): return "waitsForWifi \(offer.id)"
        }
    }
}
