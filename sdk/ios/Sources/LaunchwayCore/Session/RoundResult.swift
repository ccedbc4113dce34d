// What a round with the server came to.

public struct RoundResult {
    /// The raw value is the name in every language.
    public enum Status: String {
        /// There is no update.
        case none
        /// There is an update, which a check does not download.
        case available
        /// The update is installed, and runs when the app chooses it.
        case downloaded
        /// The next start tries the update.
        case staged
        /// What runs is this update.
        case current
        /// The update failed before on this binary.
        case quarantined
        case waitsForWifi
        /// There is an update that needs a new store binary.
        case storeUpdateRequired
    }

    public let status: Status
    /// The update; nil where there is none to install.
    public let update: UpdateInfo?
    /// Why a new store binary is needed; empty otherwise.
    public let reason: String

    init(_ status: Status, _ update: UpdateInfo? = nil, reason: String = "") {
        self.status = status
        self.update = update
        self.reason = reason
    }

    init(_ outcome: SyncOutcome) {
        switch outcome {
        case .nothing: self.init(.none)
        case .storeUpdateRequired(let reason): self.init(.storeUpdateRequired, reason: reason)
        case .staged(let offer): self.init(.staged, UpdateInfo(offer))
        case .downloaded(let offer): self.init(.downloaded, UpdateInfo(offer))
        case .sameBytes(let offer): self.init(.current, UpdateInfo(offer))
        case .quarantined(let offer): self.init(.quarantined, UpdateInfo(offer))
        case .waitsForWifi(let offer): self.init(.waitsForWifi, UpdateInfo(offer))
        }
    }

    var json: JsonValue {
        var members: TextMap<JsonValue> = ["status": .text(status.rawValue)]
        members["update"] = update?.json
        if status == .storeUpdateRequired {
            members["reason"] = .text(reason)
        }
        return .object(members)
    }
}
