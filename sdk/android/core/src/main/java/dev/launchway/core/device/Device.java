/**
 * The client of one app in one process, as an app calls it: starts, what happens during a run, rounds with the server, and
 * questions about what is installed. It blocks and starts no threads; the caller lets one thread in at a time.
 */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.Content;
import dev.launchway.core.net.PackageDownload;
import dev.launchway.core.reports.Report;
import dev.launchway.core.reports.ReportSender;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.Found;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.text.PercentEncoding;
import java.io.Closeable;
import java.io.IOException;
import java.util.Collections;
import java.util.List;

public final class Device implements Closeable {
    private final Setup setup;
    private final Storage storage;
    /** Held by the main process. Others follow it. */
    private final Closeable lock;

    private Device(Setup setup, Closeable lock) {
        this.setup = setup;
        this.storage = setup.ports.storage;
        this.lock = lock;
    }

    /**
     * Takes the lock if no other process of the app has it.
     *
     * @throws IOException the storage failed: the embedded app runs
     */
    public static Device open(Ports ports, Settings settings, UpdateTrust.Opener trust) throws IOException {
        return new Device(new Setup(ports, settings, trust), ports.storage.lock());
    }

    /** Lets another process decide. */
    @Override
    public void close() throws IOException {
        if (lock != null) {
            lock.close();
        }
    }

    /** Whether this is the process that decides. */
    public boolean isMain() {
        return lock != null;
    }

    /**
     * Decides what the app runs, before any of its code does. It never fails: storage that cannot be read, or a state that
     * cannot be understood, starts the embedded app and changes nothing.
     */
    public StartOutcome start(Launch launch) {
        try {
            Starter starter = new Starter(setup);
            return isMain() ? starter.decide(launch) : starter.follow();
        } catch (IOException unreadable) {
            return StartOutcome.fallback("cannot read the storage: " + unreadable.getMessage());
        }
    }

    /** Confirms what runs. Returns whether it was a trial. If the storage fails, the trial continues. */
    public boolean confirm() throws IOException {
        State state = StateFiles.loadState(storage).content();
        Attempt attempt = StateFiles.loadAttempt(storage);
        if (state == null || attempt == null || !isMain()) {
            return false;
        }
        BootEvent event = state.boot.confirm(attempt);
        if (event == null) {
            return false;
        }
        setup.tryToReport(setup.report(state, event));
        StateFiles.saveState(storage, state);
        return true;
    }

    /** Notes what happens during the run, at once. */
    public void mark(Mark mark) throws IOException {
        Attempt attempt = StateFiles.loadAttempt(storage);
        if (attempt == null || !isMain()) {
            return;
        }
        switch (mark) {
            case FOREGROUND:
                attempt.enterForeground();
                break;
            case BACKGROUND:
                attempt.leaveForeground();
                break;
            case HANG:
                attempt.hung = true;
                break;
            default:
                attempt.settled = true;
        }
        StateFiles.saveAttempt(storage, attempt);
    }

    /** Notes that an uncaught error ends the app; {@code stack} is null where it is not known. */
    public void markCrash(String stack) throws IOException {
        Attempt attempt = StateFiles.loadAttempt(storage);
        if (attempt == null || !isMain()) {
            return;
        }
        attempt.crashed = true;
        StateFiles.saveAttempt(storage, attempt);
        State state = StateFiles.loadState(storage).content();
        if (state != null) {
            String updateId = state.updateId(attempt.content);
            String type = BootEvent.Kind.CRASH.code();
            setup.reports.add(new Report(type, updateId, setup.ports.clock.now(), null, stack));
        }
    }

    /** Goes back to the embedded app from the next start on. */
    public void reset() throws IOException {
        State state = StateFiles.loadState(storage).content();
        if (state != null && isMain()) {
            state.boot.reset();
            StateFiles.saveState(storage, state);
        }
    }

    /** What is installed and what runs. Null: the app has never started, or its state is corrupt. */
    public Status status() throws IOException {
        State state = StateFiles.loadState(storage).content();
        if (state == null) {
            return null;
        }
        return new Status(state, StateFiles.loadAttempt(storage), setup.reports.waiting().size());
    }

    /**
     * Asks the server, verifies what it offers, and installs nothing. An app that only checks learns of revocations, too.
     */
    public CheckAnswer check() throws SyncException {
        try {
            return new OfferFinder(setup, load(), runningContent()).find().answer;
        } catch (IOException failure) {
            throw SyncException.storage(failure);
        }
    }

    /**
     * Asks the server, installs what it offers for the next start, and reports what happened. {@code progress} learns the
     * bytes of the package that have arrived. After an error the next round continues where this one stopped.
     */
    public SyncOutcome sync(PackageDownload.Progress progress) throws SyncException {
        return round(Round.Aim.NEXT, progress);
    }

    /** Does the same as {@link #sync}, but leaves the choice of what the next start tries to {@link #next}. */
    public SyncOutcome download(PackageDownload.Progress progress) throws SyncException {
        return round(Round.Aim.INSTALLED, progress);
    }

    private SyncOutcome round(Round.Aim aim, PackageDownload.Progress progress) throws SyncException {
        SyncOutcome outcome = null;
        SyncException failure = null;
        try {
            State state = load();
            Content running = runningContent();
            try {
                outcome = new Round(setup, state, running, aim).run(progress);
            } catch (SyncException ended) {
                failure = ended;
            } catch (IOException ended) {
                failure = SyncException.storage(ended);
            }
            // Reports and room on the disk do not depend on how the update went.
            finish(running);
        } catch (SyncException ended) {
            failure = failure == null ? ended : failure;
        } catch (IOException ended) {
            failure = failure == null ? SyncException.storage(ended) : failure;
        }
        if (failure != null) {
            throw failure;
        }
        return outcome;
    }

    private void finish(Content running) throws SyncException, IOException {
        try {
            sendWaitingReports();
        } finally {
            new Cleaning(setup).cleanUp(load(), running);
        }
    }

    /**
     * Makes an installed update what the next start tries. Returns the record of its package; null if no package of this
     * update is whole, or if it is revoked or in quarantine.
     */
    public SlotRecord next(String updateId) throws SyncException {
        try {
            return new Choices(setup, load()).choose(updateId);
        } catch (IOException failure) {
            throw SyncException.storage(failure);
        }
    }

    /** The installed packages, in the order of their installation. */
    public List<SlotRecord> list() throws IOException {
        State state = StateFiles.loadState(storage).content();
        return state == null ? Collections.<SlotRecord>emptyList() : new Choices(setup, state).list();
    }

    /** The last update that was rolled back or could not be installed on this binary; null if none is known. */
    public FailedUpdate failed() throws IOException {
        State state = StateFiles.loadState(storage).content();
        return state == null ? null : state.failed;
    }

    /** Sends the reports that wait. Returns how many the server took. */
    public int sendReports() throws SyncException {
        try {
            return sendWaitingReports();
        } catch (IOException failure) {
            throw SyncException.storage(failure);
        }
    }

    private int sendWaitingReports() throws SyncException, IOException {
        State state = load();
        String bundleId = PercentEncoding.encode(setup.settings.bundleId);
        String url = setup.settings.serverUrl + "/update/report/" + bundleId;
        return new ReportSender(setup.reports, setup.ports.network, url).send(state.tokens);
    }

    private State load() throws SyncException, IOException {
        if (!isMain()) {
            throw SyncException.notMain();
        }
        Found<State> found = StateFiles.loadState(storage);
        if (found.isCorrupt()) {
            StateFiles.setStateAside(storage);
            throw SyncException.corrupt();
        }
        if (found.content() == null) {
            throw SyncException.notStarted();
        }
        return found.content();
    }

    private Content runningContent() throws IOException {
        Attempt attempt = StateFiles.loadAttempt(storage);
        return attempt == null ? Content.EMBEDDED : attempt.content;
    }
}
