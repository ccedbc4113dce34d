/** Something that happens during a run and matters to the next start. */
package dev.launchway.core.device;

public enum Mark {
    /** The app came to the foreground. */
    FOREGROUND,
    /** The app left the foreground. */
    BACKGROUND,
    /** The app was in the foreground longer than it may be without confirmation. */
    HANG,
    /** The app has run for ten seconds. */
    SETTLED
}
