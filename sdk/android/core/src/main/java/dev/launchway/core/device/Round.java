/** One round with the server: check, download, install, and make it the next trial. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Soundness;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.net.PackageDownload;
import dev.launchway.core.net.PartialFile;
import dev.launchway.core.reports.Report;
import dev.launchway.core.slots.InstallException;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class Round {
    private final Setup setup;
    private final Storage storage;
    private final State state;
    private final Content running;
    private final OfferFinder finder;
    private final Aim aim;

    /** What becomes of an update that is installed. */
    enum Aim {
        /** The next start tries it. */
        NEXT,
        /** It waits until the app chooses it. */
        INSTALLED
    }

    Round(Setup setup, State state, Content running, Aim aim) {
        this.aim = aim;
        this.setup = setup;
        this.storage = setup.ports.storage;
        this.state = state;
        this.running = running;
        this.finder = new OfferFinder(setup, state, running);
    }

    SyncOutcome run(RoundListener listener) throws SyncException, IOException {
        Finding finding = finder.find();
        Offer offer = finding.answer.offer;
        if (offer == null) {
            boolean needsBinary = finding.answer.kind == CheckAnswer.Kind.STORE_UPDATE_REQUIRED;
            return needsBinary
                    ? new SyncOutcome(SyncOutcome.Kind.STORE_UPDATE_REQUIRED, null, finding.answer.message)
                    : SyncOutcome.of(SyncOutcome.Kind.NOTHING, null);
        }
        if (finding.isQuarantined) {
            return SyncOutcome.of(SyncOutcome.Kind.QUARANTINED, offer);
        }
        listener.found(offer);
        Sha256 manifest = installedManifest(offer.sha256);
        if (manifest == null) {
            if (setup.settings.wifiOnly && !setup.ports.network.isUnmetered()) {
                return SyncOutcome.of(SyncOutcome.Kind.WAITS_FOR_WIFI, offer);
            }
            manifest = fetch(offer, finding.manifest, listener);
            listener.installed(offer);
        } else if (finding.manifest != null && !finding.manifest.equals(manifest)) {
            // A slot stays as it is, whatever the server says of its files by now.
            InstallException failure = InstallException.wrongFiles();
            setup.tryToReportFailure(state, offer, failure.getMessage());
            throw SyncException.install(failure);
        }
        synchronized (setup.memory) {
            return stage(offer, manifest);
        }
    }

    /** The digest of a slot's file list; null if the slot is not whole. What runs is never replaced while it runs. */
    private Sha256 installedManifest(Sha256 slot) throws IOException {
        boolean whole = slot.equals(running.slot()) || setup.slots.soundness(slot, true) == Soundness.SOUND;
        SlotRecord record = state.slot(slot);
        return whole && record != null ? record.manifest : null;
    }

    /** Downloads and installs a package. Returns the digest of its file list. */
    private Sha256 fetch(Offer offer, Sha256 manifest, PackageDownload.Progress progress)
            throws SyncException, IOException {
        new Cleaning(setup).dropOtherParts(offer.sha256);
        String path = new RetriedDownload(setup, state, finder, offer, progress).run();
        try {
            return setup.slots.install(path, offer.sha256, manifest);
        } catch (InstallException failure) {
            boolean isFaulty = failure.kind == InstallException.Kind.FAULTY;
            if (isFaulty) {
                // It has the fault for ever, and is not downloaded again on this binary.
                synchronized (setup.memory) {
                    state.boot.ban(offer.sha256);
                }
            }
            if (setup.tryToReportFailure(state, offer, failure.getMessage()) && isFaulty) {
                tryToDiscard(offer);
            }
            throw SyncException.install(failure);
        }
    }

    private void tryToDiscard(Offer offer) {
        try {
            new PartialFile(storage, offer.sha256).discard();
        } catch (IOException stays) {
            // The next download of another package removes it.
            return;
        }
    }

    private SyncOutcome stage(Offer offer, Sha256 manifest) throws IOException {
        SlotRecord known = state.slot(offer.sha256);
        boolean isKnown = known != null && known.updateId.equals(offer.id);
        if (isKnown && aim == Aim.INSTALLED) {
            return SyncOutcome.of(SyncOutcome.Kind.DOWNLOADED, offer);
        }
        if (isKnown && offer.sha256.equals(state.boot.next)) {
            return SyncOutcome.of(SyncOutcome.Kind.STAGED, offer);
        }
        boolean runs = offer.sha256.equals(state.boot.current.slot()) && running.equals(state.boot.current);
        List<Report> reports = new ArrayList<Report>();
        reports.add(setup.report("downloaded", offer.id, null));
        if (runs) {
            reports.add(setup.report("installed", offer.id, null));
            if (!state.boot.trial) {
                reports.add(setup.report("confirmed", offer.id, null));
            }
        } else if (aim == Aim.NEXT) {
            state.boot.stage(offer.sha256);
        }
        if (state.failed != null && state.failed.updateId.equals(offer.id)) {
            state.failed = null;
        }
        setup.tryToReport(reports);
        state.record(new SlotRecord(offer.sha256, offer.id, offer.version, offer.buildNumber, manifest));
        StateFiles.saveState(storage, state);
        new PartialFile(storage, offer.sha256).discard();
        SyncOutcome.Kind installed = aim == Aim.NEXT ? SyncOutcome.Kind.STAGED : SyncOutcome.Kind.DOWNLOADED;
        return SyncOutcome.of(runs ? SyncOutcome.Kind.SAME_BYTES : installed, offer);
    }
}
