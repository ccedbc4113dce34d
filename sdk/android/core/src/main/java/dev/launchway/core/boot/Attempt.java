/** One start of the app and what became of it, as `boot.json` holds it. */
package dev.launchway.core.boot;

public final class Attempt {
    /** Counts up with each start. */
    public final long number;
    /** What was handed over. */
    public final Content content;
    /** Whether a window was shown. */
    public boolean window;
    /** Whether the app was last seen in the foreground. */
    public boolean foreground;
    /** Whether it ran for ten seconds. */
    public boolean settled;
    /** Whether the crash handler ran. */
    public boolean crashed;
    /** Whether the watchdog ran out. */
    public boolean hung;

    public Attempt(long number, Content content, boolean window) {
        this.number = number;
        this.content = content;
        this.window = window;
        this.foreground = window;
    }

    /** The app came to the foreground, perhaps in a process that was started without a window. */
    public void enterForeground() {
        window = true;
        foreground = true;
    }

    /** The app left the foreground: the content does not answer for a death after this. */
    public void leaveForeground() {
        foreground = false;
    }
}
