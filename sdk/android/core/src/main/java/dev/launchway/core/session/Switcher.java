/** Makes the framework show other content while the app runs. */
package dev.launchway.core.session;

import java.io.File;

public interface Switcher {
    /** Whether this framework can, now. Any thread may ask. */
    boolean canReload();

    /** Shows the content of {@code folder}; null is the embedded app. Called where the app's callbacks are. */
    void reload(File folder);
}
