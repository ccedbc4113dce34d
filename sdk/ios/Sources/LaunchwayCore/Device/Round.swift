// One round with the server: check, download, install, and make it the next trial.

struct Round {
    /// What becomes of an update that is installed.
    enum Aim {
        /// The next start tries it.
        case next
        /// It waits until the app chooses it.
        case installed
    }

    private let setup: Setup
    private let storage: Storage
    private let open: OpenState
    private let running: Content
    private let finder: OfferFinder
    private let aim: Aim

    init(_ setup: Setup, _ open: OpenState, running: Content, aim: Aim) {
        self.setup = setup
        self.open = open
        self.running = running
        self.aim = aim
        storage = setup.ports.storage
        finder = OfferFinder(setup, open, running: running)
    }

    func run(_ listener: RoundListener) throws -> SyncOutcome {
        let finding = try finder.find()
        switch finding.answer.content {
        case .nothing:
            return .nothing
        case .storeUpdateRequired(let reason):
            return .storeUpdateRequired(reason: reason)
        case .update(let offer) where finding.isQuarantined:
            return .quarantined(offer)
        case .update(let offer):
            listener.found(offer)
            return try install(offer, finding.manifest, listener)
        }
    }

    private func install(_ offer: Offer, _ expected: Sha256?, _ listener: RoundListener) throws -> SyncOutcome {
        guard let manifest = try installedManifest(offer.sha256) else {
            if setup.settings.wifiOnly && !setup.ports.network.isUnmetered {
                return .waitsForWifi(offer)
            }
            let manifest = try fetch(offer, expected, listener.arrived)
            listener.installed(offer)
            return try setup.memory.alone { try stage(offer, manifest) }
        }
        if let expected = expected, expected != manifest {
            // A slot stays as it is, whatever the server says of its files by now.
            let failure = InstallError.wrongFiles
            setup.tryToReportFailure(open, offer, failure.message)
            throw failure
        }
        return try setup.memory.alone { try stage(offer, manifest) }
    }

    /// The digest of a slot's file list; nil if the slot is not whole. What runs is never replaced while it runs.
    private func installedManifest(_ slot: Sha256) throws -> Sha256? {
        let whole = try slot == running.slot || setup.slots.soundness(slot, first: true) == .sound
        return whole ? open.state.slot(slot)?.manifest : nil
    }

    /// Downloads and installs a package. Returns the digest of its file list.
    private func fetch(_ offer: Offer, _ expected: Sha256?, _ progress: PackageDownload.Progress) throws -> Sha256 {
        try Cleaning(setup).dropOtherParts(offer.sha256)
        let path = try RetriedDownload.run(setup, open, finder, offer, progress: progress)
        do {
            return try setup.slots.install(path, slot: offer.sha256, expected: expected)
        } catch let failure as InstallError {
            let isSaved = setup.tryToReportFailure(open, offer, failure.message, isFaulty: failure.isFaulty)
            if isSaved && failure.isFaulty {
                // If it stays, the next download of another package removes it.
                try? PartialFile(storage, offer.sha256).discard()
            }
            throw failure
        }
    }

    private func stage(_ offer: Offer, _ manifest: Sha256) throws -> SyncOutcome {
        let state = open.state
        let isKnown = state.slot(offer.sha256)?.updateId.isExactly(offer.id) ?? false
        if isKnown && aim == .installed {
            return .downloaded(offer)
        }
        if isKnown && offer.sha256 == state.boot.next {
            return .staged(offer)
        }
        let runs = offer.sha256 == state.boot.current.slot && running == state.boot.current
        var reports = [setup.report("downloaded", offer.id)]
        if runs {
            reports.append(setup.report(BootEvent.Kind.installed.rawValue, offer.id))
            if !state.boot.trial {
                reports.append(setup.report(BootEvent.Kind.confirmed.rawValue, offer.id))
            }
        }
        setup.tryToReport(reports)
        try open.change { record(offer, manifest, asNext: aim == .next && !runs, in: &$0) }
        try PartialFile(storage, offer.sha256).discard()
        if runs {
            return .sameBytes(offer)
        }
        return aim == .next ? .staged(offer) : .downloaded(offer)
    }

    private func record(_ offer: Offer, _ manifest: Sha256, asNext: Bool, in state: inout State) {
        if asNext {
            state.boot.stage(offer.sha256)
        }
        if let failed = state.failed, failed.updateId.isExactly(offer.id) {
            state.failed = nil
        }
        state.record(
            SlotRecord(
                id: offer.sha256, updateId: offer.id, version: offer.version, buildNumber: offer.buildNumber,
                manifest: manifest))
    }
}
