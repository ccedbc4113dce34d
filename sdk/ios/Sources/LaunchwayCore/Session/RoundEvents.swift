// Turns what happens in a round into events, at most ten of its progress a second. It is called on the round's thread.

final class RoundEvents {
    private static let pauseMs = 100

    private let timer: SessionTimer
    private let events: Events
    /// What is on offer; nil: nothing is, or it is installed.
    private var update: UpdateInfo?
    /// When the next event of progress may pass.
    private var next = Int.min

    init(_ timer: SessionTimer, _ events: Events) {
        self.timer = timer
        self.events = events
    }

    var listener: RoundListener {
        RoundListener(
            found: { offer in
                self.update = UpdateInfo(offer)
                self.events.emit(LaunchwayEvent(.updateAvailable, self.update))
            },
            arrived: { bytes in
                if self.passes() {
                    self.events.emit(LaunchwayEvent(.downloadProgress, self.update, received: bytes))
                }
            },
            installed: { _ in
                self.events.emit(LaunchwayEvent(.downloadComplete, self.update))
                self.update = nil
            })
    }

    /// The round ended early.
    func fail(_ error: LaunchwayError) {
        if let update = update {
            events.emit(LaunchwayEvent(.downloadFailed, update, reason: error.message, code: error.code))
        }
    }

    private func passes() -> Bool {
        let now = timer.now
        if now < next {
            return false
        }
        next = now + Self.pauseMs
        return true
    }
}
