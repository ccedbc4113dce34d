/**
 * The folder `files/app`, from which NativeScript's runtime starts the app. An update is copied beside it and takes its place
 * in two renames; the content of the binary comes back when the runtime extracts it anew. Each copy has a mark, written
 * last, which names the update. By it the next start repairs what a process that died in between left behind.
 */
package dev.launchway.nativescript;

import dev.launchway.core.boot.Content;
import dev.launchway.core.slots.Slots;
import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.UnsuitableFileException;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.text.Utf8;
import java.io.IOException;

public final class AppFolder {
    static final String MARK = ".launchway";

    private static final int MAX_MARK = 64;
    private static final int MAX_STAMP = 256;

    /** The app's data folder: renames stay inside one file system. */
    private final Storage storage;
    private final String client;
    private final String app;
    private final String stampFile;
    private final String stamp;
    private final String work;
    private final String fresh;
    private final String old;

    /**
     * @param storage the app's data folder
     * @param files the folder for files, relative to it
     * @param noBackup the folder for files without backup, relative to it
     * @param stamp what the runtime notes, in the file `assetsThumb`, once it has extracted this binary
     */
    public AppFolder(Storage storage, String files, String noBackup, String stamp) {
        this.storage = storage;
        this.client = WholeFiles.join(noBackup, "launchway");
        this.app = WholeFiles.join(files, "app");
        this.stampFile = WholeFiles.join(noBackup, "assetsThumb");
        this.stamp = stamp;
        this.work = WholeFiles.join(client, "nativescript");
        this.fresh = WholeFiles.join(work, "fresh");
        this.old = WholeFiles.join(work, "old");
    }

    /**
     * Prepares what the runtime starts, and returns what it will start: something else than {@code wanted} if the runtime is
     * about to extract the binary, or if the storage fails.
     */
    public Content place(Content wanted) {
        try {
            repair();
            if (!isExtracted()) {
                // The runtime replaces the folder now, whatever is in it.
                return Content.EMBEDDED;
            }
            if (!content(app).equals(wanted)) {
                if (wanted.isEmbedded()) {
                    removeStamp();
                } else {
                    swap(wanted);
                }
            }
            return wanted;
        } catch (IOException failure) {
            return whatStaysAfterFailure();
        } finally {
            removeRemains();
        }
    }

    /** Between the two renames the app has no folder: the old one comes back, or the runtime extracts the binary. */
    private void repair() throws IOException {
        if (isFolder(app)) {
            return;
        }
        if (isFolder(old)) {
            storage.rename(old, app);
            syncRenames();
        } else {
            removeStamp();
        }
    }

    private void swap(Content wanted) throws IOException {
        if (!content(fresh).equals(wanted)) {
            remove(fresh);
            storage.makeFolder(fresh);
            // A mark that came in the package would be there before the rest.
            FolderCopy.copy(storage, WholeFiles.join(client, Slots.content(wanted.slot())), fresh, MARK);
            WholeFiles.replace(storage, WholeFiles.join(fresh, MARK), Utf8.encode(wanted.toString()));
        }
        remove(old);
        storage.rename(app, old);
        syncRenames();
        storage.rename(fresh, app);
        syncRenames();
    }

    /** Never an app without a folder: what was there before, else the binary. */
    private Content whatStaysAfterFailure() {
        try {
            repair();
            return isExtracted() ? content(app) : Content.EMBEDDED;
        } catch (IOException failure) {
            return Content.EMBEDDED;
        }
    }

    /** The update that a folder holds. Without a mark it holds the content of the binary. */
    private Content content(String folder) throws IOException {
        try {
            byte[] bytes = WholeFiles.read(storage, WholeFiles.join(folder, MARK), MAX_MARK);
            String text = bytes == null ? null : Utf8.decode(bytes);
            Content marked = text == null ? null : Content.parse(text);
            return marked == null ? Content.EMBEDDED : marked;
        } catch (UnsuitableFileException foreign) {
            return Content.EMBEDDED;
        }
    }

    /** Whether the runtime takes the folder as it is. Its note is one line. */
    private boolean isExtracted() throws IOException {
        try {
            byte[] bytes = WholeFiles.read(storage, stampFile, MAX_STAMP);
            String text = bytes == null ? null : Utf8.decode(bytes);
            return text != null && text.trim().equals(stamp);
        } catch (UnsuitableFileException foreign) {
            return false;
        }
    }

    private void removeStamp() throws IOException {
        storage.removeFile(stampFile);
        storage.syncFolder(WholeFiles.parent(stampFile));
    }

    /** What is left only takes space; the next start tries again. */
    private void removeRemains() {
        try {
            if (isFolder(app)) {
                remove(fresh);
                remove(old);
            }
        } catch (IOException failure) {
            return;
        }
    }

    /** Without its mark a copy is nothing, however far the removal gets. */
    private void remove(String folder) throws IOException {
        if (storage.entry(folder) != null) {
            if (isFolder(folder)) {
                storage.removeFile(WholeFiles.join(folder, MARK));
                storage.syncFolder(folder);
            }
            WholeFiles.removeTree(storage, folder);
        }
    }

    private void syncRenames() throws IOException {
        storage.syncFolder(work);
        storage.syncFolder(WholeFiles.parent(app));
    }

    private boolean isFolder(String path) throws IOException {
        Entry entry = storage.entry(path);
        return entry != null && entry.kind == Entry.Kind.FOLDER;
    }
}
