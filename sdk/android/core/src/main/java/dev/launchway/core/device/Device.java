/**
 * The client of one app in one process, as an app calls it: starts, what happens during a run, rounds with the server, and
 * questions about what is installed. It blocks and starts no threads. Every thread may call it: rounds with the server take
 * turns, and nothing else waits for a round.
 */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.BootState;
import dev.launchway.core.boot.Content;
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
    private final Storage storage;
    private final Memory memory;
    /** Held during a round. */
    private final Object rounds = new Object();
    /** Held by the main process. Others follow it. */
    private final Closeable lock;
    private volatile Setup setup;
    /** Whether {@code boot.json} names what runs. A process that did not start the app continues what is recorded. */
    private volatile boolean recorded = true;

    private Device(Setup setup, Closeable lock) {
        this.setup = setup;
        this.storage = setup.ports.storage;
        this.memory = setup.memory;
        this.lock = lock;
    }

    /**
     * Takes the lock if no other process of the app has it.
     *
     * @throws IOException the storage failed: the embedded app runs
     */
    public static Device open(Ports ports, Settings settings, UpdateTrust.Opener trust) throws IOException {
        Memory memory = new Memory(ports.storage);
        return new Device(new Setup(ports, settings, trust, memory), ports.storage.lock());
    }

    /** Runs what the main process runs, and decides nothing. */
    public static Device openFollower(Ports ports, Settings settings, UpdateTrust.Opener trust) {
        return new Device(new Setup(ports, settings, trust, new Memory(ports.storage)), null);
    }

    /** Uses other settings from now on. A round that runs keeps those that it began with. */
    public void configure(Settings settings, UpdateTrust.Opener trust) {
        setup = new Setup(setup.ports, settings, trust, memory);
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
        StartOutcome started;
        try {
            Starter starter = new Starter(setup);
            started = isMain() ? starter.decide(launch) : starter.follow();
        } catch (IOException unreadable) {
            started = StartOutcome.fallback("cannot read the storage: " + unreadable.getMessage());
        }
        recorded = started.isRecorded;
        return started;
    }

    /**
     * Confirms what runs. Returns whether it was a trial. If the storage fails, the trial continues. A start that could not be
     * recorded confirms nothing.
     */
    public boolean confirm() throws IOException {
        synchronized (memory) {
            State state = memory.load().content();
            Attempt attempt = memory.attempt();
            if (state == null || attempt == null || !isMain()) {
                return false;
            }
            BootState confirmed = state.boot.copy();
            BootEvent event = confirmed.confirm(attempt, recorded);
            if (event == null) {
                return false;
            }
            setup.tryToReport(setup.report(state, event));
            memory.saveBoot(state, confirmed);
            return true;
        }
    }

    /** Notes what happens during the run, at once. What happens during a start that could not be recorded is not noted. */
    public void mark(Mark mark) throws IOException {
        synchronized (memory.attempts) {
            Attempt attempt = memory.attempt();
            if (attempt == null || !isNoted()) {
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
            memory.save(attempt);
        }
    }

    /** Notes that an uncaught error ends the app; {@code stack} is null where it is not known. */
    public void markCrash(String stack) throws IOException {
        Attempt attempt;
        synchronized (memory.attempts) {
            attempt = memory.attempt();
            if (attempt == null || !isNoted()) {
                return;
            }
            attempt.crashed = true;
            memory.save(attempt);
        }
        State state = StateFiles.loadState(storage).content();
        if (state != null) {
            String updateId = state.updateId(attempt.content);
            String type = BootEvent.Kind.CRASH.code();
            setup.reports.add(new Report(type, updateId, setup.ports.clock.now(), null, stack));
        }
    }

    private boolean isNoted() {
        return isMain() && recorded;
    }

    /** Goes back to the embedded app from the next start on. */
    public void reset() throws IOException {
        synchronized (memory) {
            State state = memory.load().content();
            if (state != null && isMain()) {
                BootState embedded = state.boot.copy();
                embedded.reset();
                memory.saveBoot(state, embedded);
            }
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
        synchronized (rounds) {
            Setup own = setup;
            try {
                State state = load();
                memory.hold(state);
                return new OfferFinder(own, state, memory.running()).find().answer;
            } catch (IOException failure) {
                throw SyncException.storage(failure);
            } finally {
                memory.release();
            }
        }
    }

    /**
     * Asks the server, installs what it offers for the next start, and reports what happened. {@code listener} follows the
     * round. After an error the next round continues where this one stopped.
     */
    public SyncOutcome sync(RoundListener listener) throws SyncException {
        return round(Round.Aim.NEXT, listener);
    }

    /** Does the same as {@link #sync}, but leaves the choice of what the next start tries to {@link #next}. */
    public SyncOutcome download(RoundListener listener) throws SyncException {
        return round(Round.Aim.INSTALLED, listener);
    }

    private SyncOutcome round(Round.Aim aim, RoundListener listener) throws SyncException {
        synchronized (rounds) {
            try {
                return runRound(setup, aim, listener);
            } finally {
                memory.release();
            }
        }
    }

    private SyncOutcome runRound(Setup own, Round.Aim aim, RoundListener listener) throws SyncException {
        SyncOutcome outcome = null;
        SyncException failure = null;
        try {
            State state = load();
            memory.hold(state);
            Content running = memory.running();
            try {
                outcome = new Round(own, state, running, aim).run(listener);
            } catch (SyncException ended) {
                failure = ended;
            } catch (IOException ended) {
                failure = SyncException.storage(ended);
            }
            // Reports and room on the disk do not depend on how the update went.
            finish(own, running);
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

    private void finish(Setup own, Content running) throws SyncException, IOException {
        try {
            sendWaitingReports(own);
        } finally {
            new Cleaning(own).cleanUp(load(), running);
        }
    }

    /**
     * Makes an installed update what the next start tries. Returns the record of its package; null if no package of this
     * update is whole, or if it is revoked or in quarantine.
     */
    public SlotRecord next(String updateId) throws SyncException {
        try {
            synchronized (memory) {
                return new Choices(setup, load()).choose(updateId);
            }
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
        synchronized (rounds) {
            try {
                return sendWaitingReports(setup);
            } catch (IOException failure) {
                throw SyncException.storage(failure);
            }
        }
    }

    private int sendWaitingReports(Setup own) throws SyncException, IOException {
        State state = load();
        String bundleId = PercentEncoding.encode(own.settings.bundleId);
        String url = own.settings.serverUrl + "/update/report/" + bundleId;
        return new ReportSender(own.reports, own.ports.network, url).send(state.tokens);
    }

    private State load() throws SyncException, IOException {
        if (!isMain()) {
            throw SyncException.notMain();
        }
        Found<State> found = memory.load();
        if (found.isCorrupt()) {
            StateFiles.setStateAside(storage);
            throw SyncException.corrupt();
        }
        if (found.content() == null) {
            throw SyncException.notStarted();
        }
        return found.content();
    }
}
