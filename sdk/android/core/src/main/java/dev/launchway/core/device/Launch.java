/** What the platform knows at a start. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;

public final class Launch {
    /** The store binary. */
    public final Binary binary;
    /** Whether a window is shown. */
    public final boolean window;
    /** How the previous process ended. */
    public final Ending ending;

    public Launch(Binary binary, boolean window, Ending ending) {
        this.binary = binary;
        this.window = window;
        this.ending = ending;
    }
}
