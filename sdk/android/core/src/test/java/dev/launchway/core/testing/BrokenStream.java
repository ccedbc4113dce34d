/** The body of a connection that breaks after some bytes. */
package dev.launchway.core.testing;

import java.io.IOException;
import java.io.InputStream;

public final class BrokenStream extends InputStream {
    private final InputStream whole;
    private int left;

    public BrokenStream(InputStream whole, int count) {
        this.whole = whole;
        this.left = count;
    }

    @Override
    public int read() throws IOException {
        if (left == 0) {
            throw new IOException("connection reset");
        }
        left--;
        return whole.read();
    }

    @Override
    public int read(byte[] buffer, int offset, int count) throws IOException {
        if (left == 0) {
            throw new IOException("connection reset");
        }
        int read = whole.read(buffer, offset, Math.min(count, left));
        left -= Math.max(0, read);
        return read;
    }
}
