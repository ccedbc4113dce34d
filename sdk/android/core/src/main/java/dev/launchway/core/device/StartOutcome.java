/** What a start hands over. */
package dev.launchway.core.device;

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
    /** What the start changed: an update runs for the first time, or one gave way. */
    public final List<BootEvent> events;

    private StartOutcome(Content content, String problem, List<BootEvent> events) {
        this.content = content;
        this.folder = content.isEmbedded() ? null : Slots.content(content.slot());
        this.problem = problem;
        this.events = events;
    }

    static StartOutcome of(Content content) {
        return new StartOutcome(content, null, Collections.<BootEvent>emptyList());
    }

    static StartOutcome of(Decision decision) {
        return new StartOutcome(decision.attempt.content, null, decision.events);
    }

    static StartOutcome fallback(String problem) {
        return new StartOutcome(Content.EMBEDDED, problem, Collections.<BootEvent>emptyList());
    }
}
