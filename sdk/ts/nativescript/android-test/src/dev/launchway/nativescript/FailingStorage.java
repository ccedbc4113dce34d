/** A storage in which one operation fails, all from one on fail, or the process dies at one. Reading fails, too. */
package dev.launchway.nativescript;

import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

final class FailingStorage implements Storage {
    enum Fault {
        ONE_OPERATION,
        ALL_FROM_HERE,
        DEATH
    }

    /** The end of the process: nothing after it happens. */
    static final class Killed extends Error {
        private static final long serialVersionUID = 1;
    }

    private final Storage storage;
    private final Fault fault;
    private final int at;
    private int operations;

    FailingStorage(Storage storage, Fault fault, int at) {
        this.storage = storage;
        this.fault = fault;
        this.at = at;
    }

    /** Whether the fault happened. */
    boolean failed() {
        return operations > at;
    }

    private void next() throws IOException {
        int operation = operations++;
        if (operation == at || (operation > at && fault != Fault.ONE_OPERATION)) {
            if (fault == Fault.DEATH) {
                throw new Killed();
            }
            throw new IOException("operation " + operation);
        }
    }

    @Override
    public Entry entry(String path) throws IOException {
        next();
        return storage.entry(path);
    }

    @Override
    public List<String> list(String path) throws IOException {
        next();
        return storage.list(path);
    }

    @Override
    public Source open(String path) throws IOException {
        next();
        return storage.open(path);
    }

    @Override
    public Target create(String path) throws IOException {
        next();
        final Target target = storage.create(path);
        return new Target() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int count) throws IOException {
                next();
                // Half of it arrives, so that a death here leaves a torn file.
                target.write(bytes, offset, count / 2);
                next();
                target.write(bytes, offset + count / 2, count - count / 2);
            }

            @Override
            public void sync() throws IOException {
                next();
                target.sync();
            }

            @Override
            public void close() throws IOException {
                target.close();
            }
        };
    }

    @Override
    public Target append(String path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void makeFolder(String path) throws IOException {
        next();
        storage.makeFolder(path);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        next();
        storage.rename(from, to);
    }

    @Override
    public void removeFile(String path) throws IOException {
        next();
        storage.removeFile(path);
    }

    @Override
    public void removeFolder(String path) throws IOException {
        next();
        storage.removeFolder(path);
    }

    @Override
    public void syncFolder(String path) throws IOException {
        next();
        storage.syncFolder(path);
    }

    @Override
    public long freeSpace() throws IOException {
        return storage.freeSpace();
    }

    @Override
    public Closeable lock() throws IOException {
        return storage.lock();
    }
}
