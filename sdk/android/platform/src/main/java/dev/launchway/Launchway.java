/**
 * The client of an Android app. Callbacks and events arrive on the main thread; every thread may call. Nothing here throws:
 * where the client cannot work, the content of the binary runs and calls fail with a code.
 */
package dev.launchway;

import android.app.Application;
import android.content.Context;
import dev.launchway.core.boot.Content;
import dev.launchway.core.session.Bridge;
import dev.launchway.core.session.Calls;
import dev.launchway.core.session.Session;
import dev.launchway.core.session.SessionListener;
import dev.launchway.core.session.Switcher;
import java.io.File;

public final class Launchway {
    private static Launchway started;

    private final Session session;
    private final Bridge bridge;
    private boolean isObserving;

    private Launchway(Session session) {
        this.session = session;
        this.bridge = new Bridge(session);
    }

    /**
     * Decides what runs, once in a process. {@link LaunchwayProvider} calls it before any code of the app; an app whose manifest
     * does not have the provider calls it at the beginning of {@code Application.onCreate}.
     */
    public static synchronized Launchway start(Context context) {
        // The application's own context is null while it is being attached.
        Context application = context.getApplicationContext();
        Context lasting = application == null ? context : application;
        if (started == null) {
            Session session = ClientStart.start(lasting);
            started = new Launchway(session);
            CrashHandler.install(session);
        }
        started.observe(lasting);
        return started;
    }

    /** The client of this process; null if it has not started. */
    public static synchronized Launchway get() {
        return started;
    }

    private void observe(Context context) {
        if (!isObserving && context instanceof Application) {
            isObserving = true;
            Visibility.observe((Application) context, session);
        }
    }

    /** The folder with the content that runs, the same for the whole process unless a switcher reloads; null: the binary's. */
    public File currentPath() {
        return session.currentFolder();
    }

    /** What {@link #currentPath} holds. */
    public Content currentContent() {
        return session.currentContent();
    }

    /**
     * For frameworks that could not show {@link #currentContent}: nothing that happens from now on is noted, and nothing is
     * confirmed.
     */
    public void showsOtherContent() {
        session.onOtherContent();
    }

    /** What can show other content while the app runs; null: nothing. It is called on the main thread. */
    public void setSwitcher(Switcher switcher) {
        session.setSwitcher(switcher);
    }

    /** The calls with typed results. */
    public Calls calls() {
        return session.calls();
    }

    /** The calls and events as JSON texts, for frameworks with a script. */
    public Bridge bridge() {
        return bridge;
    }

    public void addListener(SessionListener listener) {
        session.addListener(listener);
    }

    public void removeListener(SessionListener listener) {
        session.removeListener(listener);
    }
}
