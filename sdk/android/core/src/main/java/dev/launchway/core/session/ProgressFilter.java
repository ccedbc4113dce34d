/** Lets at most ten progress events a second pass. */
package dev.launchway.core.session;

final class ProgressFilter {
    private static final long PAUSE_MS = 100;

    private final Timer timer;
    private long next = Long.MIN_VALUE;

    ProgressFilter(Timer timer) {
        this.timer = timer;
    }

    boolean passes() {
        long now = timer.now();
        if (now < next) {
            return false;
        }
        next = now + PAUSE_MS;
        return true;
    }
}
