/** What is installed and what runs. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.storage.State;

public final class Status {
    /** Everything that is remembered. */
    public final State state;
    /** The attempt that runs, or ran last; null if none is known. */
    public final Attempt attempt;
    /** How many reports wait. */
    public final int reports;

    Status(State state, Attempt attempt, int reports) {
        this.state = state;
        this.attempt = attempt;
        this.reports = reports;
    }
}
