// Asks the server for an update, and verifies that it may be installed (`docs/reference/sdk.md#trust`).

struct OfferFinder {
    /// The nodes of a server differ for a moment after a publication: how long to wait before asking again.
    private static let pauseMs = 3_000

    private let setup: Setup
    private let open: OpenState
    private let running: Content

    init(_ setup: Setup, _ open: OpenState, running: Content) {
        self.setup = setup
        self.open = open
        self.running = running
    }

    /// What a round with the server has found.
    struct Finding {
        let answer: CheckAnswer
        /// Whether the offer failed before on this binary.
        var isQuarantined = false
        /// The digest that the offer's file list must have; nil if it is not known.
        var manifest: Sha256?
    }

    /// An offer was refused, or is not one; the report names it.
    private struct RefusedOffer: Error {
        let offer: Offer
        let error: SyncError
        let mayPass: Bool
    }

    /// What may be due to nodes that differ is asked once more, without caches. A refusal of an offer is reported.
    func find() throws -> Finding {
        do {
            return try askAndVerify(.used)
        } catch let refusal as RefusedOffer {
            if !refusal.mayPass {
                throw reported(refusal)
            }
        }
        setup.ports.clock.pause(Self.pauseMs)
        do {
            return try askAndVerify(.bypassed)
        } catch let refusal as RefusedOffer {
            throw reported(refusal)
        }
    }

    private func reported(_ refusal: RefusedOffer) -> SyncError {
        setup.tryToReportFailure(open, refusal.offer, refusal.error.message)
        return refusal.error
    }

    /// Asks the server.
    func ask(_ caches: Caches) throws -> CheckAnswer {
        let content = setup.running(open.state, running)
        let deviceId = open.state.deviceId
        let answer = try ServerCheck.ask(setup.ports.network, setup.settings, content, deviceId: deviceId, caches)
        if let token = answer.token {
            try open.change { $0.keepToken(token) }
        }
        return answer
    }

    private func askAndVerify(_ caches: Caches) throws -> Finding {
        let asked = Result { try ask(caches) }
        switch asked {
        case .success, .failure(CheckError.status), .failure(CheckError.malformed):
            break
        case .failure(let error):
            throw error
        }
        let trust = setup.trust(open.state.trust)
        // Revocations arrive in this way, so it is done whatever the check says.
        let stale = try refresh(trust, announced: try? asked.get().announced, caches)
        return try verify(try asked.get(), trust, stale)
    }

    /// Returns why metadata is not up to date; nil if it is.
    private func refresh(_ trust: UpdateTrust, announced: AnnouncedVersions?, _ caches: Caches) throws -> TrustError? {
        do {
            try trust.refresh(open, announced: announced, caches)
            return nil
        } catch let error as TrustError {
            return error
        }
    }

    private func verify(_ answer: CheckAnswer, _ trust: UpdateTrust, _ stale: TrustError?) throws -> Finding {
        guard let offer = answer.offer else {
            if case .nothing = answer.content, let stale = stale {
                throw stale
            }
            return Finding(answer: answer)
        }
        let content = setup.running(open.state, running)
        if !content.isOlder(than: offer) {
            // It is reported like one that nobody signed.
            throw RefusedOffer(offer: offer, error: .check(.notNewer(offer)), mayPass: false)
        }
        if open.state.boot.quarantine.contains(offer.sha256) {
            return Finding(answer: answer, isQuarantined: true)
        }
        do {
            if let stale = stale {
                throw stale
            }
            return Finding(answer: answer, manifest: try trust.permit(offer, over: content))
        } catch let error as TrustError where error.refusal != nil {
            throw RefusedOffer(offer: offer, error: .unverified(error), mayPass: error.mayPass)
        }
    }
}
