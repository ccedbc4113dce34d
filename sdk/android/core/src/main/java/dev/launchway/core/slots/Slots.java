/**
 * Installed packages (`docs/reference/sdk.md#slots`): `slots/<sha256>/` with the files in `app/`, their list in `files.json`,
 * and `.complete`, written last, with the list's digest.
 */
package dev.launchway.core.slots;

import dev.launchway.core.boot.Soundness;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.packages.FileList;
import dev.launchway.core.packages.ListedFile;
import dev.launchway.core.packages.PackageArchive;
import dev.launchway.core.packages.PackageEntry;
import dev.launchway.core.packages.PackageException;
import dev.launchway.core.packages.Unpacking;
import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.UnsuitableFileException;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class Slots {
    /** The folder of all slots. */
    public static final String FOLDER = "slots";

    private static final String MARK = ".complete";
    private static final String LIST = "files.json";
    private static final int DIGEST_DIGITS = 64;
    /** What a file takes on the disk beyond its bytes. */
    private static final long BYTES_PER_FILE = 4096;
    /** What stays free for everything else on the phone. */
    private static final long SPARE_BYTES = 8 << 20;

    private final Storage storage;
    private final String entryFile;

    public Slots(Storage storage, String entryFile) {
        this.storage = storage;
        this.entryFile = entryFile;
    }

    private static String folder(Sha256 slot) {
        return FOLDER + "/" + slot;
    }

    /** The folder with a slot's files. */
    public static String content(Sha256 slot) {
        return folder(slot) + "/app";
    }

    /**
     * Unpacks the package at {@code path} into a fresh slot and returns the digest of its file list. Until `.complete` is there
     * the slot is nothing.
     *
     * @param expected the digest that the file list must have; null if none is known
     * @throws IOException the storage failed; what was written is removed at the next try
     */
    public Sha256 install(String path, Sha256 slot, Sha256 expected) throws IOException, InstallException {
        try (Source source = storage.open(path);
                PackageArchive archive = PackageArchive.open(source)) {
            Unpacking.check(archive, null, entryFile);
            checkSpace(archive);
            remove(folder(slot));
            SlotFiles files = new SlotFiles(storage, content(slot));
            FileList list = Unpacking.unpack(archive, files);
            Sha256 manifest = list.manifest();
            if (expected != null && !expected.equals(manifest)) {
                throw InstallException.wrongFiles();
            }
            files.syncFolders();
            storage.syncFolder(folder(slot));
            storage.syncFolder(FOLDER);
            WholeFiles.replace(storage, WholeFiles.join(folder(slot), LIST), list.canonical());
            WholeFiles.replace(storage, WholeFiles.join(folder(slot), MARK), Utf8.encode(manifest.toString()));
            return manifest;
        } catch (PackageException fault) {
            throw InstallException.faulty(fault);
        } catch (SlotFiles.CollisionException collision) {
            throw InstallException.collision(collision.path);
        }
    }

    private void checkSpace(PackageArchive archive) throws IOException, InstallException {
        long needed = SPARE_BYTES;
        for (PackageEntry entry : archive.entries()) {
            needed += entry.size() + BYTES_PER_FILE;
        }
        long free = storage.freeSpace();
        if (free < needed) {
            throw InstallException.noSpace(needed, free);
        }
    }

    /** Removes a slot. Its mark goes first: without it the rest is nothing, however far the removal gets. */
    public void remove(String folder) throws IOException {
        String mark = WholeFiles.join(folder, MARK);
        if (storage.entry(mark) != null) {
            WholeFiles.removeTree(storage, mark);
            storage.syncFolder(folder);
        }
        WholeFiles.removeTree(storage, folder);
    }

    /**
     * Whether a slot can be handed over. Its hashes are computed only the first time.
     *
     * @throws IOException the storage failed, so that nobody knows
     */
    public Soundness soundness(Sha256 slot, boolean first) throws IOException {
        Sha256 manifest = mark(slot);
        if (manifest == null) {
            return Soundness.INCOMPLETE;
        }
        Entry entry = storage.entry(WholeFiles.join(content(slot), entryFile));
        if (entry == null || entry.kind != Entry.Kind.FILE) {
            return Soundness.NO_ENTRY_FILE;
        }
        return first && !isIntact(slot, manifest) ? Soundness.DAMAGED : Soundness.SOUND;
    }

    /** The digest in `.complete`; null if there is none. */
    private Sha256 mark(Sha256 slot) throws IOException {
        try {
            byte[] bytes = WholeFiles.read(storage, WholeFiles.join(folder(slot), MARK), DIGEST_DIGITS);
            String text = bytes == null ? null : Utf8.decode(bytes);
            return text == null ? null : Sha256.parse(text);
        } catch (UnsuitableFileException damaged) {
            return null;
        }
    }

    /** Whether the files of a slot are exactly those of its list, and the list is the one of {@code manifest}. */
    private boolean isIntact(Sha256 slot, Sha256 manifest) throws IOException {
        try {
            FileList found = FileList.of(hashes(content(slot)));
            byte[] list = WholeFiles.read(storage, WholeFiles.join(folder(slot), LIST), FileList.MAX_CANONICAL);
            return found.manifest().equals(manifest) && Arrays.equals(list, found.canonical());
        } catch (UnsuitableFileException damaged) {
            return false;
        } catch (PackageException damaged) {
            return false;
        }
    }

    /** The files below a folder with sizes and digests, at most as many as a list may have. */
    private List<ListedFile> hashes(String folder) throws IOException {
        List<ListedFile> found = new ArrayList<ListedFile>();
        List<String> folders = new ArrayList<String>();
        folders.add("");
        while (!folders.isEmpty()) {
            String below = folders.remove(folders.size() - 1);
            String listed = below.isEmpty() ? folder : WholeFiles.join(folder, below);
            for (String name : storage.list(listed)) {
                String path = WholeFiles.join(below, name);
                Entry entry = storage.entry(WholeFiles.join(folder, path));
                boolean isFolder = entry != null && entry.kind == Entry.Kind.FOLDER;
                boolean isFile = entry != null && entry.kind == Entry.Kind.FILE;
                if ((!isFolder && !isFile) || found.size() + folders.size() >= 2 * FileList.MAX_FILES) {
                    throw new UnsuitableFileException(path);
                }
                if (isFolder) {
                    folders.add(path);
                } else {
                    found.add(SlotFiles.hash(storage, folder, path));
                }
            }
        }
        return found;
    }
}
