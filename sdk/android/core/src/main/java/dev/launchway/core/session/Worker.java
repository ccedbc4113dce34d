/** Executes tasks one after another, in the order in which they arrive, and never on the caller's stack. */
package dev.launchway.core.session;

public interface Worker {
    void run(Runnable task);
}
