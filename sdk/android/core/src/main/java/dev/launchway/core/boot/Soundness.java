/** Whether an installed package can be handed over. */
package dev.launchway.core.boot;

public enum Soundness {
    SOUND(null),
    /** `.complete` is missing. */
    INCOMPLETE(Reason.INCOMPLETE),
    /** The file that the app starts with is missing. */
    NO_ENTRY_FILE(Reason.NO_ENTRY_FILE),
    /** A file does not have its hash. */
    DAMAGED(Reason.DAMAGED);

    private final Reason obstacle;

    Soundness(Reason obstacle) {
        this.obstacle = obstacle;
    }

    /** Why the package cannot be handed over; null if it can. */
    Reason obstacle() {
        return obstacle;
    }
}
