/**
 * Unpacks a whole package, hashed while it is written. Nothing that its list does not name is written, and nothing of a
 * package without the entry file, or with native code, that the app may not load over the air.
 */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

public final class Unpacking {
    private static final List<String> NATIVE_CODE = Arrays.asList("so", "dex", "jar", "dylib", "framework");

    static final OutputStream NOWHERE = new OutputStream() {
        @Override
        public void write(int value) {}

        @Override
        public void write(byte[] bytes, int offset, int count) {}
    };

    /** Where files are written to. */
    public interface Sink {
        /**
         * Creates a file. Its path keeps the rules of paths. The stream is closed when the file is whole, and the file must
         * be on disk then; it is closed as well when unpacking fails.
         */
        OutputStream create(String path) throws IOException;
    }

    private Unpacking() {}

    /**
     * Checks what the directory tells, before anything is written.
     *
     * @param list the package's file list where that is known, else null
     * @param entryFile the file that the app starts with
     */
    public static void check(PackageArchive archive, FileList list, String entryFile) throws PackageException {
        Set<String> found = new HashSet<String>();
        for (PackageEntry entry : archive.entries()) {
            // A framework is a folder, so every part of a path counts.
            for (String part : entry.path().split("/")) {
                if (isNativeCode(part)) {
                    throw entry.refused("is native code, which updates must not contain");
                }
            }
            if (!entry.isFolder()) {
                found.add(entry.path());
                checkListed(entry, list);
            }
        }
        if (list != null) {
            for (ListedFile file : list.files()) {
                if (!found.contains(file.path)) {
                    throw PackageException.ofEntry(file.path, "is in the file list, but not in the package");
                }
            }
        }
        if (!found.contains(entryFile)) {
            throw new PackageException("the package does not contain `" + entryFile + "`, with which the app starts");
        }
    }

    private static void checkListed(PackageEntry entry, FileList list) throws PackageException {
        ListedFile listed = list == null ? null : list.find(entry.path());
        if (list != null && (listed == null || listed.size != entry.size())) {
            throw entry.refused("is not in the file list");
        }
    }

    /** Whether a name is one of native code, also of a versioned library such as `libc.so.6`. */
    private static boolean isNativeCode(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        int dot = lower.lastIndexOf('.');
        return dot >= 0 && (NATIVE_CODE.contains(lower.substring(dot + 1)) || lower.contains(".so."));
    }

    /**
     * Unpacks all files, after {@link #check}, and returns their list. What was written is worthless if this fails.
     *
     * @throws PackageException the package breaks a rule, or a file is not the listed one
     * @throws IOException the package cannot be read or a file cannot be written
     */
    public static FileList unpack(PackageArchive archive, FileList list, Sink sink)
            throws IOException, PackageException {
        List<ListedFile> files = new ArrayList<ListedFile>();
        for (int index = 0; index < archive.entries().size(); index++) {
            PackageEntry entry = archive.entries().get(index);
            if (entry.isFolder()) {
                // Folders come with their files; the header is checked all the same.
                archive.unpack(index, NOWHERE);
                continue;
            }
            checkListed(entry, list);
            ListedFile file = new ListedFile(entry.path(), entry.size(), write(archive, index, sink));
            if (list != null && !file.equals(list.find(file.path))) {
                throw entry.refused("is not the listed file");
            }
            files.add(file);
        }
        return FileList.of(files);
    }

    /** Unpacks all files of a package whose list is not known. */
    public static FileList unpack(PackageArchive archive, Sink sink) throws IOException, PackageException {
        return unpack(archive, null, sink);
    }

    private static Sha256 write(PackageArchive archive, int index, Sink sink) throws IOException, PackageException {
        try (OutputStream target = sink.create(archive.entries().get(index).path())) {
            return archive.unpack(index, target);
        }
    }
}
