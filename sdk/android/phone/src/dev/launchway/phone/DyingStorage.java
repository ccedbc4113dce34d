/**
 * Storage of a phone whose process dies, as by `kill -9`, just before the change with the number that the environment variable
 * `LAUNCHWAY_PHONE_DIES_AT` has.
 */
package dev.launchway.phone;

import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

final class DyingStorage implements Storage {
    private static final int KILLED = 137;

    private final Storage storage;
    /** How many more changes there are until it dies. */
    private long left;

    private DyingStorage(Storage storage, long left) {
        this.storage = storage;
        this.left = left;
    }

    /** The storage itself, unless the variable is set. */
    static Storage around(Storage storage) {
        String at = System.getenv("LAUNCHWAY_PHONE_DIES_AT");
        return at == null ? storage : new DyingStorage(storage, Long.parseLong(at));
    }

    private void change() {
        left--;
        if (left == 0) {
            Runtime.getRuntime().halt(KILLED);
        }
    }

    @Override
    public Entry entry(String path) throws IOException {
        return storage.entry(path);
    }

    @Override
    public List<String> list(String path) throws IOException {
        return storage.list(path);
    }

    @Override
    public Source open(String path) throws IOException {
        return storage.open(path);
    }

    @Override
    public Target create(String path) throws IOException {
        change();
        return new DyingTarget(storage.create(path));
    }

    @Override
    public Target append(String path) throws IOException {
        change();
        return new DyingTarget(storage.append(path));
    }

    @Override
    public void makeFolder(String path) throws IOException {
        change();
        storage.makeFolder(path);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        change();
        storage.rename(from, to);
    }

    @Override
    public void removeFile(String path) throws IOException {
        change();
        storage.removeFile(path);
    }

    @Override
    public void removeFolder(String path) throws IOException {
        change();
        storage.removeFolder(path);
    }

    @Override
    public void syncFolder(String path) throws IOException {
        change();
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

    private final class DyingTarget extends Target {
        private final Target target;

        DyingTarget(Target target) {
            this.target = target;
        }

        @Override
        public void write(int value) throws IOException {
            change();
            target.write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            change();
            target.write(bytes, offset, count);
        }

        @Override
        public void sync() throws IOException {
            change();
            target.sync();
        }

        @Override
        public void close() throws IOException {
            target.close();
        }
    }
}
