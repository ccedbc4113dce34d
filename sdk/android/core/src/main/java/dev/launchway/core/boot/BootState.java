/** What the boot machine remembers between starts, and what changes it besides a start. */
package dev.launchway.core.boot;

import dev.launchway.core.digest.Sha256;
import java.util.ArrayList;
import java.util.List;

public final class BootState {
    /** The most packages in quarantine. The oldest leave first; a phone sees far fewer on one binary. */
    public static final int MAX_QUARANTINE = 64;

    /** The store binary that everything below belongs to. */
    public Binary binary;
    /** What the app runs. */
    public Content current = Content.EMBEDDED;
    /** Whether {@code current} still has to prove itself. */
    public boolean trial;
    /** What runs when {@code current} has to go. */
    public Content lastGood = Content.EMBEDDED;
    /** What the next start with a window tries; null: nothing. */
    public Sha256 next;
    /** What never runs again on this binary, oldest first. */
    public List<Sha256> quarantine = new ArrayList<Sha256>();
    /** Crashes and hangs of the trial. */
    public long hard;
    /** Unexplained deaths of the trial. */
    public long soft;
    /** Crashes in a row of confirmed content within its first ten seconds. */
    public long earlyCrashes;
    /** The last attempt whose end was counted, so that none is counted twice. */
    public long judged;

    /** The state of a binary that has never run. */
    public BootState(Binary binary) {
        this.binary = binary;
    }

    public BootState copy() {
        BootState copy = new BootState(binary);
        copy.current = current;
        copy.trial = trial;
        copy.lastGood = lastGood;
        copy.next = next;
        copy.quarantine = new ArrayList<Sha256>(quarantine);
        copy.hard = hard;
        copy.soft = soft;
        copy.earlyCrashes = earlyCrashes;
        copy.judged = judged;
        return copy;
    }

    /** Never runs {@code slot} again on this binary. */
    public void ban(Sha256 slot) {
        quarantine.remove(slot);
        if (quarantine.size() == MAX_QUARANTINE) {
            quarantine.remove(0);
        }
        quarantine.add(slot);
    }

    /** Makes an installed package the next trial. Returns whether it may be one: a package in quarantine may not. */
    public boolean stage(Sha256 slot) {
        boolean allowed = !quarantine.contains(slot);
        if (allowed) {
            next = slot;
        }
        return allowed;
    }

    /**
     * Confirms the attempt's content, if it is a trial that ran with a window. Returns what to report, or null.
     *
     * @param isRecorded whether what runs is this attempt; otherwise other content may stand in for it
     */
    public BootEvent confirm(Attempt attempt, boolean isRecorded) {
        if (!isRecorded || !trial || !attempt.content.equals(current) || !attempt.window) {
            return null;
        }
        run(current, false);
        return new BootEvent(BootEvent.Kind.CONFIRMED, current, null);
    }

    /** Goes back to the embedded app from the next start on. The quarantine stays. */
    public void reset() {
        run(Content.EMBEDDED, false);
        lastGood = Content.EMBEDDED;
        next = null;
    }

    /** Whether a package may not be removed. */
    public boolean needs(Sha256 slot) {
        return slot.equals(current.slot()) || slot.equals(lastGood.slot()) || slot.equals(next);
    }

    /**
     * Whether this state has to be written in place of {@code other}. That an attempt was looked at and counted nothing
     * does not: looking again counts nothing again.
     */
    public boolean isChangedFrom(BootState other) {
        boolean same = binary.equals(other.binary)
                && current.equals(other.current)
                && trial == other.trial
                && lastGood.equals(other.lastGood)
                && (next == null ? other.next == null : next.equals(other.next))
                && quarantine.equals(other.quarantine)
                && hard == other.hard
                && soft == other.soft
                && earlyCrashes == other.earlyCrashes;
        return !same;
    }

    /** Runs {@code content} from now on, with fresh counters. */
    void run(Content content, boolean asTrial) {
        current = content;
        trial = asTrial;
        hard = 0;
        soft = 0;
        earlyCrashes = 0;
    }
}
