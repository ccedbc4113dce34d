/** The storage on a folder of the file system that belongs to the client alone. */
package dev.launchway.core.storage;

import java.io.Closeable;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

public final class Folder implements Storage {
    private static final String LOCK_FILE = "lock";

    private final File root;
    private final FolderSync folderSync;

    private Folder(File root, FolderSync folderSync) {
        this.root = root;
        this.folderSync = folderSync;
    }

    /** Uses {@code root}, and creates it if it is missing. */
    public static Folder open(File root, FolderSync folderSync) throws IOException {
        Folder folder = new Folder(root.getCanonicalFile(), folderSync);
        folder.makeFolder("");
        return folder;
    }

    /** Where a path is in the file system. */
    public File file(String path) {
        return path.isEmpty() ? root : new File(root, path);
    }

    @Override
    public Entry entry(String path) throws IOException {
        File file = file(path);
        if (isLink(file)) {
            return Entry.other();
        } else if (file.isFile()) {
            return Entry.file(file.length());
        } else if (file.isDirectory()) {
            return Entry.folder();
        } else if (file.exists()) {
            return Entry.other();
        }
        // In a folder that cannot be read, files only seem to be missing.
        File parent = file.getParentFile();
        if (parent.isDirectory() && !(parent.canRead() && parent.canExecute())) {
            throw failure("read", parent);
        }
        return null;
    }

    /** The root itself has no links in its path; what differs from its canonical path below it is a link. */
    private boolean isLink(File file) throws IOException {
        return !file.getCanonicalPath().equals(file.getAbsolutePath());
    }

    @Override
    public List<String> list(String path) throws IOException {
        Entry entry = entry(path);
        if (entry == null) {
            return Collections.emptyList();
        }
        String[] names = file(path).list();
        if (entry.kind != Entry.Kind.FOLDER || names == null) {
            throw failure("list", file(path));
        }
        return Arrays.asList(names);
    }

    @Override
    public Source open(String path) throws IOException {
        return new OpenFile(new RandomAccessFile(withoutLink(path), "r"));
    }

    @Override
    public Target create(String path) throws IOException {
        return new WrittenFile(new FileOutputStream(fileToWrite(path)));
    }

    @Override
    public Target append(String path) throws IOException {
        return new WrittenFile(new FileOutputStream(fileToWrite(path), true));
    }

    /** A link that leads nowhere looks like a missing file, but it is in the way when a file is created. */
    private File fileToWrite(String path) throws IOException {
        File file = withoutLink(path);
        if (!file.exists() && !file.createNewFile()) {
            throw failure("open the link", file);
        }
        return file;
    }

    private File withoutLink(String path) throws IOException {
        File file = file(path);
        if (isLink(file)) {
            throw failure("open the link", file);
        }
        return file;
    }

    @Override
    public void makeFolder(String path) throws IOException {
        File folder = file(path);
        if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
            throw failure("create", folder);
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        if (!file(from).renameTo(file(to))) {
            throw failure("rename", file(from));
        }
    }

    @Override
    public void removeFile(String path) throws IOException {
        // File.delete would remove an empty folder, too.
        Entry entry = entry(path);
        boolean isRemoved = (entry == null || entry.kind != Entry.Kind.FOLDER) && file(path).delete();
        // What looks like nothing may have been a link that leads nowhere.
        if (entry != null && !isRemoved) {
            throw failure("remove", file(path));
        }
    }

    @Override
    public void removeFolder(String path) throws IOException {
        Entry entry = entry(path);
        if (entry != null && (entry.kind != Entry.Kind.FOLDER || !file(path).delete())) {
            throw failure("remove", file(path));
        }
    }

    @Override
    public void syncFolder(String path) throws IOException {
        folderSync.sync(file(path));
    }

    @Override
    public long freeSpace() {
        return root.getUsableSpace();
    }

    @Override
    public Closeable lock() throws IOException {
        RandomAccessFile file = new RandomAccessFile(withoutLink(LOCK_FILE), "rw");
        FileLock lock = null;
        try {
            lock = file.getChannel().tryLock();
        } catch (OverlappingFileLockException heldByThisProcess) {
            return null;
        } finally {
            if (lock == null) {
                file.close();
            }
        }
        // Closing the file releases the lock.
        return lock == null ? null : file;
    }

    private static IOException failure(String action, File file) {
        return new IOException("cannot " + action + " " + file);
    }

    private static final class OpenFile implements Source {
        private final RandomAccessFile file;

        OpenFile(RandomAccessFile file) {
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

    private static final class WrittenFile extends Target {
        private final FileOutputStream file;

        WrittenFile(FileOutputStream file) {
            this.file = file;
        }

        @Override
        public void write(int value) throws IOException {
            file.write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            file.write(bytes, offset, count);
        }

        @Override
        public void sync() throws IOException {
            file.getFD().sync();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
