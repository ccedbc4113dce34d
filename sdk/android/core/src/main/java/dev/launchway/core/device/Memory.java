/**
 * The state files of the process that decides. A round works on the state for minutes, and the app may confirm, reset or
 * switch meanwhile: while a round runs, all calls share its state. Whoever changes the state or reads it to change it
 * holds this object's monitor, but never while it waits for the network.
 */
package dev.launchway.core.device;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.BootState;
import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.Found;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
import java.io.IOException;

final class Memory {
    /** Held to change `boot.json`, which has to be fast: the main thread notes there that the app leaves the foreground. */
    final Object attempts = new Object();

    private final Storage storage;
    /** The state of the round that runs; null: none runs. */
    private State held;

    Memory(Storage storage) {
        this.storage = storage;
    }

    synchronized Found<State> load() throws IOException {
        return held == null ? StateFiles.loadState(storage) : Found.whole(held);
    }

    synchronized void hold(State state) {
        held = state;
    }

    synchronized void release() {
        held = null;
    }

    /** Replaces the boot machine's part, in memory and on the disk or nowhere. */
    synchronized void saveBoot(State state, BootState changed) throws IOException {
        BootState before = state.boot;
        state.boot = changed;
        boolean saved = false;
        try {
            StateFiles.saveState(storage, state);
            saved = true;
        } finally {
            if (!saved) {
                state.boot = before;
            }
        }
    }

    Attempt attempt() throws IOException {
        return StateFiles.loadAttempt(storage);
    }

    void save(Attempt attempt) throws IOException {
        synchronized (attempts) {
            StateFiles.saveAttempt(storage, attempt);
        }
    }

    /** What runs, as far as it is known. */
    Content running() throws IOException {
        Attempt attempt = attempt();
        return attempt == null ? Content.EMBEDDED : attempt.content;
    }
}
