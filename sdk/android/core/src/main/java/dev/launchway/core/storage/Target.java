/** A file that is written. */
package dev.launchway.core.storage;

import java.io.IOException;
import java.io.OutputStream;

public abstract class Target extends OutputStream {
    /** Returns when everything written is on disk. */
    public abstract void sync() throws IOException;
}
