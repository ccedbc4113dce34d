/** What all parts of a client share: ports, settings, trust, memory, slots and reports. */
package dev.launchway.core.device;

import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.Content;
import dev.launchway.core.reports.Report;
import dev.launchway.core.reports.ReportQueue;
import dev.launchway.core.slots.Slots;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class Setup {
    final Ports ports;
    final Settings settings;
    final UpdateTrust.Opener trust;
    final Memory memory;
    final Slots slots;
    final ReportQueue reports;

    Setup(Ports ports, Settings settings, UpdateTrust.Opener trust, Memory memory) {
        this.ports = ports;
        this.settings = settings;
        this.trust = trust;
        this.memory = memory;
        this.slots = new Slots(ports.storage, settings.entryFile);
        this.reports = new ReportQueue(ports.storage);
    }

    Report report(String type, String updateId, String reason) {
        return new Report(type, updateId, ports.clock.now(), reason, null);
    }

    Report report(State state, BootEvent event) {
        String reason = event.reason == null ? null : event.reason.code();
        return report(event.kind.code(), state.updateId(event.content), reason);
    }

    /** Reports that an update could not be installed, and saves the state with it. Returns whether it is saved. */
    boolean tryToReportFailure(State state, Offer offer, String message) {
        tryToReport(report("failed", offer.id, message));
        String reason = Report.cutReason(message);
        try {
            synchronized (memory) {
                state.failed = new FailedUpdate(offer.id, offer.version, offer.buildNumber, offer.sha256, reason);
                StateFiles.saveState(ports.storage, state);
            }
            return true;
        } catch (IOException full) {
            // The round ends for a reason that matters more.
            return false;
        }
    }

    /** Adds reports as far as the storage lets it: what they tell of is more important. */
    void tryToReport(List<Report> added) {
        try {
            reports.add(added);
        } catch (IOException lost) {
            return;
        }
    }

    void tryToReport(Report report) {
        List<Report> added = new ArrayList<Report>();
        added.add(report);
        tryToReport(added);
    }

    /** What the server learns about content that runs. */
    Running running(State state, Content content) {
        SlotRecord slot = state.slot(content.slot());
        return new Running(
                slot == null ? settings.version : slot.version,
                slot == null ? state.boot.binary.code : slot.buildNumber,
                state.updateId(content));
    }
}
