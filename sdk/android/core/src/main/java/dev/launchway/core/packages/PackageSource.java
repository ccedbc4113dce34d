/** The bytes of a package, read from any place. */
package dev.launchway.core.packages;

import java.io.IOException;

public interface PackageSource {
    long length() throws IOException;

    /** Reads at least one and at most {@code count} bytes from the offset {@code from}; -1 at the end. */
    int read(long from, byte[] buffer, int offset, int count) throws IOException;
}
