/** Threads and time of the platform. */
package dev.launchway.core.session;

public final class SessionPorts {
    /** Where rounds with the server run, for minutes perhaps. */
    public final Worker rounds;
    /** Where everything else runs, which is fast. */
    public final Worker tasks;
    /** Where the app's own code is called. */
    public final Worker callbacks;
    public final Timer timer;

    public SessionPorts(Worker rounds, Worker tasks, Worker callbacks, Timer timer) {
        this.rounds = rounds;
        this.tasks = tasks;
        this.callbacks = callbacks;
        this.timer = timer;
    }
}
