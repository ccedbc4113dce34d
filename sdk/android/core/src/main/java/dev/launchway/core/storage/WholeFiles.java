/** Whole files and folders: bounded reads, replacement that survives a power cut, removal. */
package dev.launchway.core.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class WholeFiles {
    private WholeFiles() {}

    /**
     * The bytes of a file; null: there is none.
     *
     * @throws UnsuitableFileException the file has more than {@code max} bytes, or is none
     */
    public static byte[] read(Storage storage, String path, int max) throws IOException {
        Entry entry = storage.entry(path);
        if (entry == null) {
            return null;
        }
        if (entry.kind != Entry.Kind.FILE || entry.size > max) {
            throw new UnsuitableFileException(path);
        }
        byte[] bytes = new byte[(int) entry.size];
        try (Source source = storage.open(path)) {
            int length = 0;
            while (length < bytes.length) {
                int count = source.read(length, bytes, length, bytes.length - length);
                if (count < 0) {
                    return Arrays.copyOf(bytes, length);
                }
                length += count;
            }
        }
        return bytes;
    }

    /** Replaces a file: whoever reads it, also after a power cut, finds the old bytes or the new ones. */
    public static void replace(Storage storage, String path, byte[] bytes) throws IOException {
        String temporary = path + ".new";
        try (Target target = storage.create(temporary)) {
            target.write(bytes);
            target.sync();
        }
        storage.rename(temporary, path);
        storage.syncFolder(parent(path));
    }

    /** The folder of a path; the client's own folder is the empty path. */
    public static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash < 0 ? "" : path.substring(0, slash);
    }

    /** The path of {@code name} in {@code folder}. */
    public static String join(String folder, String name) {
        return folder.isEmpty() ? name : folder + "/" + name;
    }

    /** Removes a file or a folder with everything in it. A missing one is fine. */
    public static void removeTree(Storage storage, String path) throws IOException {
        if (!isFolder(storage, path)) {
            storage.removeFile(path);
            return;
        }
        // Folders are listed again after their contents are deleted: no recursion, whatever the depth.
        List<String> folders = new ArrayList<String>();
        folders.add(path);
        while (!folders.isEmpty()) {
            String folder = folders.get(folders.size() - 1);
            String inner = null;
            for (String name : storage.list(folder)) {
                String child = join(folder, name);
                if (isFolder(storage, child)) {
                    inner = child;
                } else {
                    storage.removeFile(child);
                }
            }
            if (inner == null) {
                storage.removeFolder(folder);
                folders.remove(folders.size() - 1);
            } else {
                folders.add(inner);
            }
        }
    }

    private static boolean isFolder(Storage storage, String path) throws IOException {
        Entry entry = storage.entry(path);
        return entry != null && entry.kind == Entry.Kind.FOLDER;
    }
}
