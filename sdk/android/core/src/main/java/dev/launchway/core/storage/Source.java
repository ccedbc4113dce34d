/** A file that is read from any place. */
package dev.launchway.core.storage;

import java.io.Closeable;
import java.io.IOException;

public interface Source extends Closeable {
    long length() throws IOException;

    /** Reads at least one and at most {@code count} bytes from the offset {@code from}; -1 at the end. */
    int read(long from, byte[] buffer, int offset, int count) throws IOException;
}
