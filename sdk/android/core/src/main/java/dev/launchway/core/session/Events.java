/** Passes events to the app's listeners. What a start did waits for the first of them. Every thread may call it. */
package dev.launchway.core.session;

import java.util.ArrayList;
import java.util.List;

final class Events {
    /** The most events that wait; the oldest leave first. */
    private static final int MAX_WAITING = 16;

    private final Worker callbacks;
    private final List<SessionListener> listeners = new ArrayList<SessionListener>();
    private final List<Event> waiting = new ArrayList<Event>();

    Events(Worker callbacks) {
        this.callbacks = callbacks;
    }

    synchronized void add(SessionListener listener) {
        listeners.add(listener);
        for (Event event : waiting) {
            deliver(event);
        }
        waiting.clear();
    }

    synchronized void remove(SessionListener listener) {
        listeners.remove(listener);
    }

    synchronized void emit(Event event) {
        if (!listeners.isEmpty()) {
            deliver(event);
        } else if (event.type.waits()) {
            if (waiting.size() == MAX_WAITING) {
                waiting.remove(0);
            }
            waiting.add(event);
        }
    }

    private void deliver(final Event event) {
        final List<SessionListener> receivers = new ArrayList<SessionListener>(listeners);
        callbacks.run(new Runnable() {
            @Override
            public void run() {
                for (SessionListener receiver : receivers) {
                    receiver.onEvent(event);
                }
            }
        });
    }
}
