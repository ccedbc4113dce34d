/** Tells the time. */
package dev.launchway.core.device;

public interface Clock {
    /** Milliseconds since 1970. */
    long now();

    /** Waits. Tests do not. */
    void pause(long milliseconds);
}
