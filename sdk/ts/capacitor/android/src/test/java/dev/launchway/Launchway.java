/** For tests: a client that hands over the folder that the test chose. */
package dev.launchway;

import android.content.Context;
import dev.launchway.core.session.Bridge;
import dev.launchway.core.session.Switcher;
import java.io.File;

public final class Launchway {
    public static Launchway next;

    private final Bridge bridge = new Bridge();
    public File folder;
    public boolean failsToStart;
    public boolean showsOther;
    public Switcher switcher;

    public static Launchway start(Context context) {
        if (next.failsToStart) {
            throw new IllegalStateException("no client");
        }
        return next;
    }

    public File currentPath() {
        return folder;
    }

    public void showsOtherContent() {
        showsOther = true;
    }

    public Bridge bridge() {
        return bridge;
    }

    public void setSwitcher(Switcher switcher) {
        this.switcher = switcher;
    }
}
