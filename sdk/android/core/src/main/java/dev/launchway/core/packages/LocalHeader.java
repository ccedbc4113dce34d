/** An entry's own header (APPNOTE 4.3.7) and the data descriptor after its data: both must agree with the directory. */
package dev.launchway.core.packages;

import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.Arrays;

final class LocalHeader {
    private static final int LENGTH = 30;
    private static final long MARK = 0x0403_4b50L;
    private static final long DESCRIPTOR_MARK = 0x0807_4b50L;

    private LocalHeader() {}

    /** Checks the header and the extent of an entry, which must extend to {@code end}. Returns the offset of its data. */
    static long check(PackageReader reader, PackageEntry entry, long end) throws IOException, PackageException {
        long dataStart = checkHeader(reader, entry, end);
        if (entry.packed > end - dataStart) {
            throw overlaps(entry);
        }
        long dataEnd = dataStart + entry.packed;
        if ((entry.flags & PackageEntry.DESCRIPTOR) != 0) {
            checkDescriptor(reader, entry, dataEnd, end);
        } else if (dataEnd < end) {
            throw stray(entry);
        }
        return dataStart;
    }

    static PackageException overlaps(PackageEntry entry) {
        return entry.refused("overlaps another entry or the directory");
    }

    private static PackageException stray(PackageEntry entry) {
        return entry.refused("is followed by bytes that belong to no entry");
    }

    private static PackageException disagrees(PackageEntry entry, String what) {
        return entry.refused("has a different " + what + " in its own header than in the directory");
    }

    private static long checkHeader(PackageReader reader, PackageEntry entry, long end)
            throws IOException, PackageException {
        if (entry.start > end - LENGTH) {
            throw overlaps(entry);
        }
        ZipBytes header = new ZipBytes(reader.read(entry.start, LENGTH));
        if (header.u32() != MARK) {
            throw entry.refused("is not at the offset in the directory");
        }
        // The version needed to extract.
        int flags = header.skip(2).u16();
        int method = header.u16();
        // Time and date.
        long checksum = header.skip(4).u32();
        long packed = header.u32();
        long unpacked = header.u32();
        int nameLength = header.u16();
        int extraLength = header.u16();
        long namesStart = entry.start + LENGTH;
        if (nameLength + extraLength > end - namesStart) {
            throw overlaps(entry);
        }
        byte[] name = reader.read(namesStart, nameLength);
        ZipExtra extra = ZipExtra.read(reader.read(namesStart + nameLength, extraLength));
        if (!Arrays.equals(name, Utf8.encode(entry.name))) {
            throw disagrees(entry, "name");
        }
        if (method != entry.method) {
            throw disagrees(entry, "method");
        }
        if ((flags & ZipDirectory.MEANINGFUL) != (entry.flags & ZipDirectory.MEANINGFUL)) {
            throw disagrees(entry, "set of flags");
        }
        if (extra == null) {
            throw entry.refused("has damaged extra fields");
        }
        if (extra.hasOtherName(name)) {
            throw disagrees(entry, "name");
        }
        // The order is that of the extra field.
        boolean agrees = agrees(entry, extra.number(unpacked), entry.unpacked)
                && agrees(entry, extra.number(packed), entry.packed)
                && agrees(entry, checksum, entry.checksum);
        if (!agrees) {
            throw disagrees(entry, "size or checksum");
        }
        return namesStart + nameLength + extraLength;
    }

    private static boolean agrees(PackageEntry entry, long found, long known) {
        return found == known || (found == 0 && (entry.flags & PackageEntry.DESCRIPTOR) != 0);
    }

    /**
     * Checks the data descriptor: checksum and sizes, with an optional mark, in one of two widths. The start of the next
     * entry tells which.
     */
    private static void checkDescriptor(PackageReader reader, PackageEntry entry, long start, long end)
            throws IOException, PackageException {
        long length = end - start;
        if (length == 0) {
            throw entry.refused("is not followed by its sizes");
        }
        boolean marked = length == 16 || length == 24;
        boolean wide = length == 20 || length == 24;
        if (!marked && !wide && length != 12) {
            throw stray(entry);
        }
        ZipBytes bytes = new ZipBytes(reader.read(start, (int) length));
        if (marked && bytes.u32() != DESCRIPTOR_MARK) {
            throw stray(entry);
        }
        long checksum = bytes.u32();
        long packed = wide ? bytes.u64() : bytes.u32();
        long unpacked = wide ? bytes.u64() : bytes.u32();
        if (checksum != entry.checksum || packed != entry.packed || unpacked != entry.unpacked) {
            throw disagrees(entry, "size or checksum");
        }
    }
}
