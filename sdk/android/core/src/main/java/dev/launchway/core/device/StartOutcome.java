/** What a start hands over. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Decision;
import dev.launchway.core.slots.Slots;
import java.util.Collections;
import java.util.List;

public final class StartOutcome {
    /** What runs. */
    public final Content content;
    /** The folder with its files, below the client's own; null is the embedded app. */
    public final String folder;
    /** Why the embedded app runs although nobody decided so; null if somebody did. */
    public final String problem;
    /** Whether this start is the attempt in `boot.json`. What happens during another one is not noted. */
    public final boolean isRecorded;
    /** What ran before; null if that is not known. */
    public final Content previous;
    /** What the start changed: an update runs for the first time, or one gave way. */
    public final List<BootEvent> events;

    private StartOutcome(
            Content content, String problem, boolean isRecorded, Content previous, List<BootEvent> events) {
        this.content = content;
        this.folder = content.isEmbedded() ? null : Slots.content(content.slot());
        this.problem = problem;
        this.isRecorded = isRecorded;
        this.previous = previous;
        this.events = events;
    }

    /** {@code previous} is null if no attempt was known. */
    static StartOutcome of(Decision decision, Attempt previous) {
        Content before = previous == null ? null : previous.content;
        return new StartOutcome(decision.attempt.content, null, true, before, decision.events);
    }

    /** A start that is not recorded. */
    static StartOutcome of(Content content) {
        return new StartOutcome(content, null, false, null, Collections.<BootEvent>emptyList());
    }

    static StartOutcome fallback(String problem) {
        return new StartOutcome(Content.EMBEDDED, problem, false, null, Collections.<BootEvent>emptyList());
    }
}
