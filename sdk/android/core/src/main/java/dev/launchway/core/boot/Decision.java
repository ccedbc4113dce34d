/** The result of a start. */
package dev.launchway.core.boot;

import java.util.List;

public final class Decision {
    /** What to remember. It is on disk before {@code attempt} is. */
    public final BootState state;
    /** What to hand over, to be on disk before it is. */
    public final Attempt attempt;
    /** What to hand over if state or attempt cannot be written: a trial never runs unrecorded. */
    public final Content unwritten;
    /** What to report. */
    public final List<BootEvent> events;
    /** Whether a new store binary has made every slot void. */
    public final boolean newBinary;

    Decision(BootState state, Attempt attempt, Content unwritten, List<BootEvent> events, boolean newBinary) {
        this.state = state;
        this.attempt = attempt;
        this.unwritten = unwritten;
        this.events = events;
        this.newBinary = newBinary;
    }
}
