// What a session that works is made of.

final class SessionParts {
    let app: AppFacts
    let devicePorts: Ports
    /// Where the storage is.
    let folder: String
    let device: Device
    let rounds: Rounds
    let policy: RoundPolicy
    /// Learns of each round that ended well.
    var follower: Rounds.Follower?

    init(
        _ app: AppFacts, _ devicePorts: Ports, folder: String, _ device: Device, _ ports: SessionPorts, _ events: Events,
        awaitsFrame: Bool
    ) {
        self.app = app
        self.devicePorts = devicePorts
        self.folder = folder
        self.device = device
        let relay = FollowerRelay()
        rounds = Rounds(device, ports, events) { relay.parts?.follower?($0, $1, $2) }
        policy = RoundPolicy(rounds, ports, isMain: device.isMain, awaitsFrame: awaitsFrame)
        relay.parts = self
    }

    /// The rounds exist before the parts do.
    private final class FollowerRelay {
        weak var parts: SessionParts?
    }
}
