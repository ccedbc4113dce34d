// What all parts of a client share: ports, settings, trust, memory, slots and reports.

final class Setup {
    let ports: Ports
    let settings: Settings
    let trust: UpdateTrust.Opener
    let memory: Memory
    let slots: Slots
    let reports: ReportQueue

    init(
        _ ports: Ports, _ settings: Settings, _ trust: @escaping UpdateTrust.Opener, _ memory: Memory, _ reports: ReportQueue
    ) {
        self.ports = ports
        self.settings = settings
        self.trust = trust
        self.memory = memory
        self.reports = reports
        slots = Slots(ports.storage, entryFile: settings.entryFile)
    }

    func report(_ type: String, _ updateId: String, reason: String? = nil, stack: String? = nil) -> Report {
        Report(type, updateId, at: ports.clock.now, reason: reason, stack: stack)
    }

    /// `stack` is where the previous process crashed.
    func report(_ event: BootEvent, in state: State, stack: String? = nil) -> Report {
        let updateId = state.updateId(event.content)
        let place = event.kind == .crash ? stack : nil
        return report(event.kind.rawValue, updateId, reason: event.reason?.rawValue, stack: place)
    }

    /// Adds reports as far as the storage lets it: what they tell of is more important.
    func tryToReport(_ added: [Report]) {
        try? reports.add(added)
    }

    /// Reports that an update could not be installed, and saves the state with it. Returns whether it is saved.
    @discardableResult
    func tryToReportFailure(_ open: OpenState, _ offer: Offer, _ message: String, isFaulty: Bool = false) -> Bool {
        let report = self.report("failed", offer.id, reason: message)
        tryToReport([report])
        let failed = FailedUpdate(
            updateId: offer.id, version: offer.version, buildNumber: offer.buildNumber, sha256: offer.sha256,
            reason: report.reason ?? "")
        do {
            try open.change { state in
                state.failed = failed
                if isFaulty {
                    // It has the fault for ever, and is not downloaded again on this binary.
                    state.boot.ban(offer.sha256)
                }
            }
            return true
        } catch {
            // The round ends for a reason that matters more.
            return false
        }
    }

    /// What the server learns about content that runs.
    func running(_ state: State, _ content: Content) -> Running {
        let slot = content.slot.flatMap { state.slot($0) }
        return Running(
            version: slot?.version ?? settings.version,
            build: slot?.buildNumber ?? state.boot.binary.code,
            updateId: state.updateId(content))
    }
}
