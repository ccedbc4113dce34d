/** Reads a package without ever trusting its length. */
package dev.launchway.core.packages;

import java.io.EOFException;
import java.io.IOException;

final class PackageReader {
    private static final int CHUNK = 1 << 16;

    final long length;
    private final PackageSource source;

    /** The bytes that were read last, and their offset. */
    private final byte[] chunk = new byte[CHUNK];
    private long chunkStart;
    private int chunkLength;

    PackageReader(PackageSource source) throws IOException {
        this.source = source;
        this.length = source.length();
    }

    /** Exactly {@code count} bytes. The caller knows that they exist. */
    byte[] read(long from, int count) throws IOException {
        byte[] bytes = new byte[count];
        int done = 0;
        while (done < count) {
            done += readSome(from + done, bytes, done, count - done);
        }
        return bytes;
    }

    /** At least one byte, and at most {@code limit}, which is above zero. */
    int readSome(long from, byte[] buffer, int offset, long limit) throws IOException {
        long ahead = chunkStart + chunkLength - from;
        if (from < chunkStart || ahead <= 0) {
            chunkStart = from;
            chunkLength = Math.max(0, source.read(from, chunk, 0, CHUNK));
            ahead = chunkLength;
        }
        if (ahead == 0) {
            throw new EOFException("the file has shrunk since its length was read");
        }
        int count = (int) Math.min(Math.min(ahead, limit), buffer.length - offset);
        System.arraycopy(chunk, (int) (from - chunkStart), buffer, offset, count);
        return count;
    }
}
