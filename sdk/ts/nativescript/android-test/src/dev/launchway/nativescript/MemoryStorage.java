/** Files in memory that behave like those of a file system: a folder is never renamed over another. */
package dev.launchway.nativescript;

import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.WholeFiles;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

final class MemoryStorage implements Storage {
    /** The bytes of each file; null for a folder. */
    private final TreeMap<String, byte[]> entries = new TreeMap<String, byte[]>();

    @Override
    public Entry entry(String path) {
        if (!entries.containsKey(path)) {
            return null;
        }
        byte[] bytes = entries.get(path);
        return bytes == null ? Entry.folder() : Entry.file(bytes.length);
    }

    @Override
    public List<String> list(String path) throws IOException {
        List<String> names = new ArrayList<String>();
        if (!entries.containsKey(path)) {
            return names;
        }
        needFolder(path);
        String prefix = path + "/";
        for (String each : entries.tailMap(prefix).keySet()) {
            if (!each.startsWith(prefix)) {
                break;
            }
            if (each.indexOf('/', prefix.length()) < 0) {
                names.add(each.substring(prefix.length()));
            }
        }
        // File systems list in any order; this one makes a mark the last to be removed with its folder.
        Collections.reverse(names);
        return names;
    }

    @Override
    public Source open(String path) throws IOException {
        final byte[] bytes = entries.get(path);
        if (bytes == null) {
            throw new IOException("no file " + path);
        }
        return new Source() {
            @Override
            public long length() {
                return bytes.length;
            }

            @Override
            public int read(long from, byte[] buffer, int offset, int count) {
                int read = Math.min(count, bytes.length - (int) from);
                System.arraycopy(bytes, (int) from, buffer, offset, Math.max(read, 0));
                return read <= 0 ? -1 : read;
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public Target create(final String path) throws IOException {
        needFolder(WholeFiles.parent(path));
        entries.put(path, new byte[0]);
        final ByteArrayOutputStream written = new ByteArrayOutputStream();
        return new Target() {
            @Override
            public void write(int value) {
                written.write(value);
                entries.put(path, written.toByteArray());
            }

            @Override
            public void write(byte[] bytes, int offset, int count) {
                written.write(bytes, offset, count);
                entries.put(path, written.toByteArray());
            }

            @Override
            public void sync() {}
        };
    }

    @Override
    public Target append(String path) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void makeFolder(String path) throws IOException {
        if (!path.isEmpty() && !entries.containsKey(path)) {
            makeFolder(WholeFiles.parent(path));
            entries.put(path, null);
        }
        needFolder(path);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        needFolder(WholeFiles.parent(to));
        Entry moved = entry(from);
        Entry replaced = entry(to);
        if (moved == null || (replaced != null && (moved.kind != replaced.kind || moved.kind == Entry.Kind.FOLDER))) {
            throw new IOException("cannot rename " + from + " to " + to);
        }
        Map<String, byte[]> found = new TreeMap<String, byte[]>();
        for (String each : new ArrayList<String>(entries.keySet())) {
            if (each.equals(from) || each.startsWith(from + "/")) {
                found.put(to + each.substring(from.length()), entries.remove(each));
            }
        }
        entries.putAll(found);
    }

    @Override
    public void removeFile(String path) throws IOException {
        if (entries.containsKey(path) && entries.remove(path) == null) {
            entries.put(path, null);
            throw new IOException(path + " is a folder");
        }
    }

    @Override
    public void removeFolder(String path) throws IOException {
        if (!list(path).isEmpty()) {
            throw new IOException(path + " is not empty");
        }
        entries.remove(path);
    }

    @Override
    public void syncFolder(String path) throws IOException {
        needFolder(path);
    }

    @Override
    public long freeSpace() {
        return Long.MAX_VALUE;
    }

    @Override
    public Closeable lock() {
        throw new UnsupportedOperationException();
    }

    private void needFolder(String path) throws IOException {
        if (!path.isEmpty() && (!entries.containsKey(path) || entries.get(path) != null)) {
            throw new IOException(path + " is not a folder");
        }
    }
}
