/** Starts the app: reads what is remembered, lets the boot machine decide, and writes its decision first. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.BootMachine;
import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Decision;
import dev.launchway.core.boot.Soundness;
import dev.launchway.core.boot.StartFacts;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.reports.Report;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.Found;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.TrustRecord;
import dev.launchway.core.text.Hex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class Starter {
    private static final int DEVICE_ID_BYTES = 16;

    private final Setup setup;
    private final Storage storage;

    Starter(Setup setup) {
        this.setup = setup;
        this.storage = setup.ports.storage;
    }

    /** What the main process runs, where that can be handed over. */
    StartOutcome follow() throws IOException {
        Attempt attempt = StateFiles.loadAttempt(storage);
        State state = StateFiles.loadState(storage).content();
        if (attempt == null || state == null || attempt.content.isEmbedded()) {
            return StartOutcome.of(Content.EMBEDDED);
        }
        Sha256 slot = attempt.content.slot();
        boolean mayRun = !setup.trust.open(state.trust).isRevoked(slot)
                && setup.slots.soundness(slot, false) == Soundness.SOUND;
        return StartOutcome.of(mayRun ? attempt.content : Content.EMBEDDED);
    }

    StartOutcome decide(Launch launch) throws IOException {
        synchronized (setup.memory) {
            return decideAlone(launch);
        }
    }

    private StartOutcome decideAlone(Launch launch) throws IOException {
        Found<State> found = setup.memory.load();
        if (found.isCorrupt()) {
            return StartOutcome.fallback("state.json is not valid");
        }
        boolean isFirst = found.content() == null;
        State state = isFirst ? newState(launch) : found.content();
        StartFacts facts = new StartFacts(launch.binary, launch.window, launch.ending, packages(state));
        Attempt previous = setup.memory.attempt();
        Decision decision = BootMachine.decide(state.boot, previous, facts);
        // Reports come first: one too many is counted once, one too few never.
        List<Report> reports = new ArrayList<Report>();
        for (BootEvent event : decision.events) {
            reports.add(setup.report(state, event));
        }
        setup.tryToReport(reports);
        boolean isChanged = isFirst || decision.state.isChangedFrom(state.boot);
        rememberFailure(state, decision.events);
        state.boot = decision.state;
        if (decision.newBinary) {
            forgetOldBinary(state);
        }
        try {
            if (isChanged) {
                StateFiles.saveState(storage, state);
            }
            setup.memory.save(decision.attempt);
        } catch (IOException unwritten) {
            return StartOutcome.of(decision.unwritten);
        }
        return StartOutcome.of(decision, previous);
    }

    private State newState(Launch launch) {
        return State.ofNewPhone(launch.binary, Hex.encode(setup.ports.random.next(DEVICE_ID_BYTES)));
    }

    /** A package that gave way or could not be used always changes the state, which is saved after this. */
    private static void rememberFailure(State state, List<BootEvent> events) {
        for (BootEvent event : events) {
            boolean failed = event.kind == BootEvent.Kind.ROLLED_BACK || event.kind == BootEvent.Kind.FAILED;
            SlotRecord slot = failed ? state.slot(event.content.slot()) : null;
            if (slot != null) {
                state.failed = FailedUpdate.of(slot, event.reason.code());
            }
        }
    }

    private static void forgetOldBinary(State state) {
        state.slots.clear();
        state.tokens.clear();
        state.failed = null;
        if (state.trust != null) {
            // Another configuration has another role, which this device may not have fetched yet.
            state.trust = new TrustRecord(0, state.trust.stored);
        }
    }

    private StartFacts.Packages packages(State state) {
        final UpdateTrust trust = setup.trust.open(state.trust);
        return new StartFacts.Packages() {
            @Override
            public boolean isRevoked(Sha256 slot) {
                return trust.isRevoked(slot);
            }

            @Override
            public Soundness soundness(Sha256 slot, boolean first) throws IOException {
                return setup.slots.soundness(slot, first);
            }
        };
    }
}
