/** A package in a file. */
package dev.launchway.core.packages;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;

public final class FileSource implements PackageSource, Closeable {
    private final RandomAccessFile file;

    /** The file is closed with the source. */
    public FileSource(RandomAccessFile file) {
        this.file = file;
    }

    @Override
    public long length() throws IOException {
        return file.length();
    }

    @Override
    public int read(long from, byte[] buffer, int offset, int count) throws IOException {
        file.seek(from);
        return file.read(buffer, offset, count);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
