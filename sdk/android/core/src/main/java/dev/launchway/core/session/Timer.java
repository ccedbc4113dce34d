/** Calls back later, on a thread of its own. */
package dev.launchway.core.session;

public interface Timer {
    /** A call that was asked for. */
    interface Alarm {
        /** Prevents the call, unless it has begun. */
        void cancel();
    }

    /** Milliseconds on a clock that only moves forward. */
    long now();

    Alarm after(long milliseconds, Runnable task);
}
