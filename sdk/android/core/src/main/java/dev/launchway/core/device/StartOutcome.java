/** What a start hands over. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.slots.Slots;

public final class StartOutcome {
    /** What runs. */
    public final Content content;
    /** The folder with its files, below the client's own; null is the embedded app. */
    public final String folder;
    /** Why the embedded app runs although nobody decided so; null if somebody did. */
    public final String problem;

    private StartOutcome(Content content, String problem) {
        this.content = content;
        this.folder = content.isEmbedded() ? null : Slots.content(content.slot());
        this.problem = problem;
    }

    static StartOutcome of(Content content) {
        return new StartOutcome(content, null);
    }

    static StartOutcome fallback(String problem) {
        return new StartOutcome(Content.EMBEDDED, problem);
    }
}
