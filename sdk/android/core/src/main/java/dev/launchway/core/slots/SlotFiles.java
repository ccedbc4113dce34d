/** The files of a slot: newly created and flushed to disk one by one, with the folders that they need; and hashed again. */
package dev.launchway.core.slots;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.packages.ListedFile;
import dev.launchway.core.packages.Unpacking;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.WholeFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.TreeSet;

final class SlotFiles implements Unpacking.Sink {
    private static final int CHUNK = 64 << 10;

    /** A file of the package is there already. */
    static final class CollisionException extends IOException {
        private static final long serialVersionUID = 1;

        final String path;

        private CollisionException(String path) {
            super("the file exists");
            this.path = path;
        }
    }

    private final Storage storage;
    private final String content;
    private final TreeSet<String> folders = new TreeSet<String>();

    SlotFiles(Storage storage, String content) throws IOException {
        this.storage = storage;
        this.content = content;
        storage.makeFolder(content);
        folders.add(content);
    }

    @Override
    public OutputStream create(String path) throws IOException {
        String whole = WholeFiles.join(content, path);
        String folder = WholeFiles.parent(whole);
        if (!folders.contains(folder)) {
            storage.makeFolder(folder);
            for (String each = folder; folders.add(each); ) {
                each = WholeFiles.parent(each);
            }
        }
        // Path rules let no two entries meet; a file that is there all the same comes from a file system with other rules.
        if (storage.entry(whole) != null) {
            throw new CollisionException(path);
        }
        return new Flushed(storage.create(whole));
    }

    /** Returns when the names of all files are on disk. */
    void syncFolders() throws IOException {
        for (String folder : folders.descendingSet()) {
            storage.syncFolder(folder);
        }
    }

    static ListedFile hash(Storage storage, String folder, String path) throws IOException {
        MessageDigest hash = Sha256.newHash();
        byte[] buffer = new byte[CHUNK];
        long size = 0;
        try (Source source = storage.open(WholeFiles.join(folder, path))) {
            for (int count = source.read(0, buffer, 0, CHUNK); count >= 0; count = source.read(size, buffer, 0, CHUNK)) {
                hash.update(buffer, 0, count);
                size += count;
            }
        }
        return new ListedFile(path, size, Sha256.fromBytes(hash.digest()));
    }

    /** On disk when it is closed. */
    private static final class Flushed extends OutputStream {
        private final Target target;

        Flushed(Target target) {
            this.target = target;
        }

        @Override
        public void write(int value) throws IOException {
            target.write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            target.write(bytes, offset, count);
        }

        @Override
        public void close() throws IOException {
            try (Target closed = target) {
                closed.sync();
            }
        }
    }
}
