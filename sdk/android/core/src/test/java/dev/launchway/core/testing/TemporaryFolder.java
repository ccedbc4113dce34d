/** A folder of the file system that is removed after a test. */
package dev.launchway.core.testing;

import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.FolderSync;
import dev.launchway.core.storage.WholeFiles;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;

public final class TemporaryFolder implements Closeable {
    public final Folder storage;
    private final File root;

    public TemporaryFolder() throws IOException {
        root = File.createTempFile("launchway", "");
        if (!root.delete()) {
            throw new IOException("cannot use " + root);
        }
        storage = at(root);
    }

    /** The storage in a folder that exists or is created. */
    public static Folder at(File root) throws IOException {
        // Java cannot flush a folder; what a power cut leaves is tested on a disk in memory.
        return Folder.open(root, new FolderSync() {
            @Override
            public void sync(File folder) throws IOException {
                if (!folder.isDirectory()) {
                    throw new IOException(folder + " is not a folder");
                }
            }
        });
    }

    /** The content of a file; null if there is none. */
    public byte[] bytes(String path) throws IOException {
        return WholeFiles.read(storage, path, 1 << 20);
    }

    @Override
    public void close() throws IOException {
        for (String name : storage.list("")) {
            WholeFiles.removeTree(storage, name);
        }
        root.delete();
    }
}
