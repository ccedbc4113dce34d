/**
 * Decides what a start runs, from what is remembered, what became of the previous attempt, and what is known now. It writes
 * nothing. The numbered comments are the rules of `docs/reference/sdk.md#at-each-start`.
 */
package dev.launchway.core.boot;

import dev.launchway.core.digest.Sha256;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

public final class BootMachine {
    /** So many hard failures of a trial are one too many. */
    private static final int MAX_HARD = 1;
    /** So many unexplained deaths of a trial are one too many. */
    private static final int MAX_SOFT = 2;
    /** So many early crashes in a row of confirmed content are one too many. */
    private static final int MAX_EARLY_CRASHES = 3;

    private final StartFacts facts;
    private final List<BootEvent> events = new ArrayList<BootEvent>();
    private BootState state;
    /** Why the trial failed just now; null if it did not. */
    private Reason failure;

    private BootMachine(BootState state, StartFacts facts) {
        this.state = state;
        this.facts = facts;
    }

    /**
     * The decision at a start. {@code state} is not changed; {@code previous} is null if no attempt is known.
     *
     * @throws IOException if nobody knows whether a package can be handed over
     */
    public static Decision decide(BootState state, Attempt previous, StartFacts facts) throws IOException {
        BootMachine machine = new BootMachine(state.copy(), facts);
        return machine.decide(previous);
    }

    private Decision decide(Attempt previous) throws IOException {
        long lastNumber = Math.max(previous == null ? 0 : previous.number, state.judged);
        boolean newBinary = !state.binary.equals(facts.binary);
        if (newBinary) {
            // 1. A new store binary makes slots and quarantine void, and nothing of the old one is judged.
            state = new BootState(facts.binary);
            state.judged = lastNumber;
        } else if (previous != null) {
            count(previous);
        }
        if (facts.window) {
            // 2. Only a start with a window judges and promotes.
            judge();
        }
        replaceUnusable();
        if (facts.window) {
            promote();
        }
        Attempt attempt = new Attempt(lastNumber + 1, state.current, facts.window);
        Content unwritten = state.trial ? usableOrEmbedded(state.lastGood) : state.current;
        return new Decision(state, attempt, unwritten, events, newBinary);
    }

    /** 3. Counts how the previous attempt ended, once. */
    private void count(Attempt previous) {
        if (previous.number <= state.judged) {
            return;
        }
        state.judged = previous.number;
        boolean crashed = previous.crashed || facts.ending.isCrash();
        if (crashed) {
            report(BootEvent.Kind.CRASH, previous.content, null);
        }
        if (!previous.content.equals(state.current)) {
            // It stood in for content that could not be recorded, and says nothing about it.
            return;
        }
        if (!state.trial) {
            boolean early = crashed && !previous.settled;
            state.earlyCrashes = early ? state.earlyCrashes + 1 : 0;
        } else if (crashed || previous.hung) {
            state.hard++;
            failure = crashed ? Reason.CRASHED : Reason.HUNG;
        } else if (facts.ending == Ending.UNEXPLAINED && previous.window && previous.foreground) {
            state.soft++;
        }
    }

    /** 4. Quarantines a trial that failed, and confirmed content in a crash loop. */
    private void judge() throws IOException {
        if (state.current.isEmbedded()) {
            return;
        }
        Reason reason = verdict();
        if (reason != null) {
            state.ban(state.current.slot());
            fallBack(BootEvent.Kind.ROLLED_BACK, reason);
        }
    }

    /** Why the current content has to go; null if it may stay. */
    private Reason verdict() {
        if (state.trial && state.hard >= MAX_HARD) {
            // A crash that a start without a window counted can no longer be distinguished from a hang.
            return failure == null ? Reason.CRASHED : failure;
        }
        if (state.trial && state.soft >= MAX_SOFT) {
            return Reason.DIED_TWICE;
        }
        if (!state.trial && state.earlyCrashes >= MAX_EARLY_CRASHES) {
            return Reason.CRASH_LOOP;
        }
        return null;
    }

    /** Replaces content that is revoked or cannot be handed over, at a start without a window too. */
    private void replaceUnusable() throws IOException {
        if (state.current.isEmbedded()) {
            return;
        }
        Reason obstacle = obstacle(state.current.slot(), false);
        if (obstacle == Reason.REVOKED) {
            fallBack(BootEvent.Kind.ROLLED_BACK, obstacle);
        } else if (obstacle != null) {
            fallBack(BootEvent.Kind.FAILED, obstacle);
        }
    }

    /** Goes back to the last good content, else to the embedded app. */
    private void fallBack(BootEvent.Kind kind, Reason reason) throws IOException {
        report(kind, state.current, reason);
        state.run(usableOrEmbedded(state.lastGood), false);
        state.lastGood = Content.EMBEDDED;
    }

    /** 5. Makes the package that waits the trial if it can be handed over. */
    private void promote() throws IOException {
        Sha256 next = state.next;
        state.next = null;
        if (next == null || next.equals(state.current.slot()) || state.quarantine.contains(next)) {
            return;
        }
        Content content = Content.of(next);
        Reason obstacle = obstacle(next, true);
        if (obstacle != null) {
            report(BootEvent.Kind.FAILED, content, obstacle);
            return;
        }
        if (!state.trial) {
            state.lastGood = state.current;
        }
        state.run(content, true);
        report(BootEvent.Kind.INSTALLED, content, null);
    }

    private Content usableOrEmbedded(Content content) throws IOException {
        boolean usable = !content.isEmbedded()
                && !state.quarantine.contains(content.slot())
                && obstacle(content.slot(), false) == null;
        return usable ? content : Content.EMBEDDED;
    }

    /** Why a package cannot be handed over; null if it can. */
    private Reason obstacle(Sha256 slot, boolean first) throws IOException {
        return facts.packages.isRevoked(slot)
                ? Reason.REVOKED
                : facts.packages.soundness(slot, first).obstacle();
    }

    private void report(BootEvent.Kind kind, Content content, Reason reason) {
        events.add(new BootEvent(kind, content, reason));
    }
}
