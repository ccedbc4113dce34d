/** A disk in memory that counts its calls, fails or dies at one of them, and loses what was not flushed when the power is cut. */
package dev.launchway.core.testing;

import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.WholeFiles;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class MemoryDisk implements Storage {
    /** What happens at the chosen call. */
    public enum Fault {
        /** This call fails, and those after it do not. */
        FAILS,
        /** This call fails, and so do all others after it. */
        FAILS_FOR_EVER,
        /** The process dies in the middle of it. */
        DIES
    }

    /** What a death leaves on the disk. */
    public enum Leaves {
        /** The process was killed: everything. */
        EVERYTHING,
        /** The power was cut: what was flushed. */
        FLUSHED,
        /** The power was cut: all names, but of the bytes only those that were flushed. */
        NAMES_AND_FLUSHED_BYTES
    }

    /** A file, or a folder if there are no bytes. Several names of different times can be the same file. */
    private static final class Node {
        ByteArrayOutputStream bytes;
        byte[] flushed = new byte[0];

        boolean isFolder() {
            return bytes == null;
        }
    }

    private final Map<String, Node> names = new TreeMap<String, Node>();
    private final Map<String, Node> flushedNames = new TreeMap<String, Node>();
    private long free = 1L << 40;
    private int calls;
    private int faultyCall;
    private Fault fault = Fault.FAILS;
    private boolean dead;
    private boolean locked;

    /** A copy with the same content that fails at its call of this number, counted from 1. */
    public MemoryDisk withFault(int call, Fault kind) {
        MemoryDisk copy = copy();
        copy.faultyCall = call;
        copy.fault = kind;
        return copy;
    }

    /** A copy with the same content, without faults. */
    public MemoryDisk copy() {
        return afterDeath(Leaves.EVERYTHING);
    }

    /** The disk as the next process finds it. */
    public MemoryDisk afterDeath(Leaves leaves) {
        MemoryDisk copy = new MemoryDisk();
        copy.free = free;
        Map<String, Node> left = leaves == Leaves.FLUSHED ? flushedNames : names;
        for (Map.Entry<String, Node> entry : left.entrySet()) {
            Node folder = copy.names.get(WholeFiles.parent(entry.getKey()));
            boolean isReachable = entry.getKey().indexOf('/') < 0 || (folder != null && folder.isFolder());
            Node node = entry.getValue();
            if (isReachable) {
                boolean all = leaves == Leaves.EVERYTHING;
                copy.put(entry.getKey(), node.isFolder() ? null : all ? node.bytes.toByteArray() : node.flushed);
            }
        }
        copy.flushedNames.putAll(copy.names);
        return copy;
    }

    private void put(String path, byte[] bytes) {
        Node node = new Node();
        if (bytes != null) {
            node.bytes = new ByteArrayOutputStream();
            node.bytes.write(bytes, 0, bytes.length);
            node.flushed = bytes;
        }
        names.put(path, node);
    }

    /** Writes a file whose folder exists. */
    public void write(String path, byte[] bytes) {
        put(path, bytes.clone());
    }

    /** The content of a file; null if there is none. */
    public byte[] bytes(String path) {
        Node node = names.get(path);
        return node == null || node.isFolder() ? null : node.bytes.toByteArray();
    }

    /** The files below a folder by their paths in it. */
    public Map<String, byte[]> filesBelow(String folder) {
        Map<String, byte[]> files = new TreeMap<String, byte[]>();
        for (String path : names.keySet()) {
            if (path.startsWith(folder + "/") && bytes(path) != null) {
                files.put(path.substring(folder.length() + 1), bytes(path));
            }
        }
        return files;
    }

    public int calls() {
        return calls;
    }

    public boolean isDead() {
        return dead;
    }

    public void setFree(long bytes) {
        free = bytes;
    }

    /** Counts a call, and fails if this is the chosen one. */
    private void step() throws IOException {
        if (dead) {
            throw new IOException("the process is dead");
        }
        calls++;
        boolean isFaulty = faultyCall > 0
                && (calls == faultyCall || (fault == Fault.FAILS_FOR_EVER && calls > faultyCall));
        if (isFaulty) {
            dead = fault == Fault.DIES;
            throw new IOException("no space left on the disk");
        }
    }

    @Override
    public Entry entry(String path) throws IOException {
        step();
        Node node = names.get(path);
        if (node == null) {
            return null;
        }
        return node.isFolder() ? Entry.folder() : Entry.file(node.bytes.size());
    }

    @Override
    public List<String> list(String path) throws IOException {
        step();
        List<String> found = new ArrayList<String>();
        for (String name : names.keySet()) {
            if (WholeFiles.parent(name).equals(path)) {
                found.add(path.isEmpty() ? name : name.substring(path.length() + 1));
            }
        }
        return found;
    }

    @Override
    public Source open(String path) throws IOException {
        step();
        final byte[] bytes = bytes(path);
        if (bytes == null) {
            throw new IOException("there is no file " + path);
        }
        return new Source() {
            @Override
            public long length() throws IOException {
                step();
                return bytes.length;
            }

            @Override
            public int read(long from, byte[] buffer, int offset, int count) throws IOException {
                step();
                if (from >= bytes.length) {
                    return -1;
                }
                int length = Math.min(count, bytes.length - (int) from);
                System.arraycopy(bytes, (int) from, buffer, offset, length);
                return length;
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public Target create(String path) throws IOException {
        step();
        Node node = file(path);
        node.bytes.reset();
        return new Writing(node);
    }

    @Override
    public Target append(String path) throws IOException {
        step();
        return new Writing(file(path));
    }

    private Node file(String path) throws IOException {
        Node known = names.get(path);
        Node folder = names.get(WholeFiles.parent(path));
        boolean hasFolder = path.indexOf('/') < 0 || (folder != null && folder.isFolder());
        if (!hasFolder || (known != null && known.isFolder())) {
            throw new IOException("cannot write to " + path);
        }
        if (known == null) {
            put(path, new byte[0]);
        }
        return names.get(path);
    }

    @Override
    public void makeFolder(String path) throws IOException {
        step();
        for (String folder = path; !folder.isEmpty(); folder = WholeFiles.parent(folder)) {
            if (!names.containsKey(folder)) {
                put(folder, null);
            }
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        step();
        Node node = names.remove(from);
        if (node == null) {
            throw new IOException("there is no file " + from);
        }
        names.put(to, node);
    }

    @Override
    public void removeFile(String path) throws IOException {
        step();
        names.remove(path);
    }

    @Override
    public void removeFolder(String path) throws IOException {
        if (!list(path).isEmpty()) {
            throw new IOException(path + " is not empty");
        }
        names.remove(path);
    }

    @Override
    public void syncFolder(String path) throws IOException {
        step();
        if (!path.isEmpty() && (names.get(path) == null || !names.get(path).isFolder())) {
            throw new IOException("there is no folder " + path);
        }
        for (String name : new ArrayList<String>(flushedNames.keySet())) {
            if (WholeFiles.parent(name).equals(path)) {
                flushedNames.remove(name);
            }
        }
        for (Map.Entry<String, Node> entry : names.entrySet()) {
            if (WholeFiles.parent(entry.getKey()).equals(path)) {
                flushedNames.put(entry.getKey(), entry.getValue());
            }
        }
    }

    @Override
    public long freeSpace() throws IOException {
        step();
        return free;
    }

    @Override
    public Closeable lock() {
        if (locked) {
            return null;
        }
        locked = true;
        return new Closeable() {
            @Override
            public void close() {
                locked = false;
            }
        };
    }

    private final class Writing extends Target {
        private final Node node;

        Writing(Node node) {
            this.node = node;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            try {
                step();
            } catch (IOException failure) {
                if (dead && calls == faultyCall) {
                    // A death in the middle of a write.
                    node.bytes.write(bytes, offset, count / 2);
                }
                throw failure;
            }
            node.bytes.write(bytes, offset, count);
        }

        @Override
        public void sync() throws IOException {
            step();
            node.flushed = node.bytes.toByteArray();
        }
    }
}
