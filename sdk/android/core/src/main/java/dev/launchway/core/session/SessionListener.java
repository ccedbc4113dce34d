/** Learns what happens. It is called where the app's callbacks are. */
package dev.launchway.core.session;

public interface SessionListener {
    void onEvent(Event event);
}
