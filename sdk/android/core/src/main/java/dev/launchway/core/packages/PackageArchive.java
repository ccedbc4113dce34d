/**
 * An open package: a ZIP that every reader unpacks alike (docs/reference/file-lists.md#packages). Opening checks all that
 * the directory declares, unpacking an entry the rest: a package is valid when all its entries were unpacked.
 */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.zip.Inflater;

public final class PackageArchive implements Closeable {
    private final PackageReader reader;
    private final List<PackageEntry> entries;
    /** The offset of the directory, at which the last entry must end. */
    private final long directoryStart;
    private final Inflater inflater;

    private PackageArchive(PackageReader reader, List<PackageEntry> entries, long directoryStart) {
        this.reader = reader;
        this.entries = entries;
        this.directoryStart = directoryStart;
        this.inflater = new Inflater(true);
    }

    /**
     * Reads and checks the directory. The source stays open when the archive is closed.
     *
     * @throws PackageException the package breaks a rule
     * @throws IOException the source cannot be read, which is not the fault of the package
     */
    public static PackageArchive open(PackageSource source) throws IOException, PackageException {
        PackageReader reader = new PackageReader(source);
        ZipDirectory directory = new ZipDirectory(reader);
        List<PackageEntry> entries = directory.entries;
        List<String> names = new ArrayList<String>(entries.size());
        boolean hasFile = false;
        long total = 0;
        for (PackageEntry entry : entries) {
            names.add(entry.name);
            hasFile |= !entry.isFolder();
            if (entry.unpacked > FileList.MAX_TOTAL - total) {
                throw new PackageException("the package unpacks to more than " + FileList.MAX_TOTAL + " bytes");
            }
            total += entry.unpacked;
        }
        PackagePath.checkCollisions(names);
        if (!hasFile) {
            throw new PackageException("the package contains no file");
        }
        Collections.sort(entries, new ByStart());
        if (entries.get(0).start > 0) {
            throw ZipEnd.leadingBytes();
        }
        // An entry ends where the next begins. One that begins behind the directory would lead another out of the file.
        PackageEntry last = entries.get(entries.size() - 1);
        if (last.start >= directory.start) {
            throw LocalHeader.overlaps(last);
        }
        return new PackageArchive(reader, Collections.unmodifiableList(entries), directory.start);
    }

    private static final class ByStart implements Comparator<PackageEntry> {
        @Override
        public int compare(PackageEntry one, PackageEntry other) {
            return Long.compare(one.start, other.start);
        }
    }

    /** The entries in the order of the file, folders included. */
    public List<PackageEntry> entries() {
        return entries;
    }

    /**
     * Checks the entry at {@code index}, unpacks it into {@code target} and returns the digest of its content. What was written
     * is worthless if this fails.
     *
     * @throws PackageException the entry is not what the directory declares
     * @throws IOException the source cannot be read, or the target cannot be written
     */
    public Sha256 unpack(int index, OutputStream target) throws IOException, PackageException {
        PackageEntry entry = entries.get(index);
        long end = index + 1 < entries.size() ? entries.get(index + 1).start : directoryStart;
        long dataStart = LocalHeader.check(reader, entry, end);
        return EntryContents.unpack(reader, entry, dataStart, inflater, target);
    }

    @Override
    public void close() {
        inflater.end();
    }
}
