/** The contents of an entry: unpacked in memory of constant size, and compared with the declared size and checksum. */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

final class EntryContents {
    private static final int CHUNK = 1 << 16;

    private final PackageReader reader;
    private final PackageEntry entry;
    private final OutputStream target;
    private final CRC32 checksum = new CRC32();
    private final MessageDigest hash = Sha256.newHash();
    private final byte[] packed = new byte[CHUNK];
    private long size;

    private EntryContents(PackageReader reader, PackageEntry entry, OutputStream target) {
        this.reader = reader;
        this.entry = entry;
        this.target = target;
    }

    /** Unpacks the data of {@code entry}, which begins at {@code start}, and returns the digest of its content. */
    static Sha256 unpack(PackageReader reader, PackageEntry entry, long start, Inflater inflater, OutputStream target)
            throws IOException, PackageException {
        EntryContents contents = new EntryContents(reader, entry, target);
        if (entry.isFolder() && entry.unpacked > 0) {
            throw entry.refused("is a folder with content");
        }
        if (entry.method == PackageEntry.STORED) {
            contents.copy(start);
        } else if (!entry.isFolder() || entry.packed > 0) {
            // Some writers set a method although a folder is empty.
            contents.inflate(start, inflater);
        }
        return contents.finish();
    }

    private void copy(long start) throws IOException, PackageException {
        long done = 0;
        while (done < entry.packed) {
            int count = reader.readSome(start + done, packed, 0, entry.packed - done);
            done += count;
            take(packed, count);
        }
    }

    /** Inflates until the stream ends, which must be the end of the data. */
    private void inflate(long start, Inflater inflater) throws IOException, PackageException {
        byte[] unpacked = new byte[CHUNK];
        long done = 0;
        inflater.reset();
        try {
            while (!inflater.finished()) {
                int given = inflater.inflate(unpacked);
                take(unpacked, given);
                if (given > 0 || inflater.finished()) {
                    continue;
                }
                if (inflater.needsDictionary() || !inflater.needsInput() || done == entry.packed) {
                    throw damaged();
                }
                int count = reader.readSome(start + done, packed, 0, entry.packed - done);
                done += count;
                inflater.setInput(packed, 0, count);
            }
        } catch (DataFormatException notDeflate) {
            throw damaged();
        }
        if (inflater.getRemaining() > 0 || done < entry.packed) {
            throw damaged();
        }
    }

    private PackageException damaged() {
        return entry.refused("cannot be unpacked, because its bytes are damaged");
    }

    private void take(byte[] bytes, int count) throws IOException, PackageException {
        size += count;
        if (size > entry.unpacked) {
            throw wrongSize();
        }
        checksum.update(bytes, 0, count);
        hash.update(bytes, 0, count);
        target.write(bytes, 0, count);
    }

    private PackageException wrongSize() {
        return entry.refused("does not have its declared size");
    }

    private Sha256 finish() throws PackageException {
        if (size != entry.unpacked) {
            throw wrongSize();
        }
        if (checksum.getValue() != entry.checksum) {
            throw entry.refused("does not have its declared checksum");
        }
        return Sha256.fromBytes(hash.digest());
    }
}
