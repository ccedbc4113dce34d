/** Copies a folder of regular files, each flushed to disk. */
package dev.launchway.nativescript;

import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.UnsuitableFileException;
import dev.launchway.core.storage.WholeFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class FolderCopy {
    private static final int CHUNK = 64 << 10;

    private FolderCopy() {}

    /** Copies what is in {@code from} into the empty folder {@code to}, except a file {@code skipped}. */
    static void copy(Storage storage, String from, String to, String skipped) throws IOException {
        List<String> folders = new ArrayList<String>();
        folders.add("");
        while (!folders.isEmpty()) {
            String folder = folders.remove(folders.size() - 1);
            for (String name : storage.list(join(from, folder))) {
                String path = WholeFiles.join(folder, name);
                if (path.equals(skipped)) {
                    continue;
                }
                Entry entry = storage.entry(join(from, path));
                if (entry != null && entry.kind == Entry.Kind.FOLDER) {
                    storage.makeFolder(join(to, path));
                    folders.add(path);
                } else if (entry != null && entry.kind == Entry.Kind.FILE) {
                    copyFile(storage, join(from, path), join(to, path));
                } else {
                    throw new UnsuitableFileException(path);
                }
            }
            storage.syncFolder(join(to, folder));
        }
    }

    private static String join(String folder, String below) {
        return below.isEmpty() ? folder : WholeFiles.join(folder, below);
    }

    private static void copyFile(Storage storage, String from, String to) throws IOException {
        byte[] buffer = new byte[CHUNK];
        try (Source source = storage.open(from);
                Target target = storage.create(to)) {
            long at = 0;
            for (int count = source.read(at, buffer, 0, CHUNK); count >= 0; count = source.read(at, buffer, 0, CHUNK)) {
                target.write(buffer, 0, count);
                at += count;
            }
            target.sync();
        }
    }
}
