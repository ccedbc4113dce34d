/** For tests: a client that hands over the folder that the test chose. */
package dev.launchway;

import android.content.Context;
import java.io.File;

public final class Launchway {
    public static File folder;

    public static Launchway start(Context context) {
        return new Launchway();
    }

    public File currentPath() {
        return folder;
    }
}
