/** For tests: a client that hands over the folder that the test chose. */
package dev.launchway;

import android.content.Context;
import dev.launchway.core.session.Bridge;
import java.io.File;

public final class Launchway {
    public static Launchway next = new Launchway();

    private final Bridge bridge = new Bridge();
    public File folder;

    public static Launchway start(Context context) {
        return next;
    }

    public File currentPath() {
        return folder;
    }

    public Bridge bridge() {
        return bridge;
    }
}
