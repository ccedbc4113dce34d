/** The directory at the end of a ZIP (APPNOTE 4.3.12): what it declares about each entry, and whether that is allowed. */
package dev.launchway.core.packages;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class ZipDirectory {
    private static final int HEADER = 46;
    private static final long MARK = 0x0201_4b50L;

    private static final int ENCRYPTED = 1 | 1 << 6 | 1 << 13;
    private static final int PATCH = 1 << 5;
    private static final int UTF8 = 1 << 11;
    /** The flags that change the meaning of an entry; the others are hints. */
    static final int MEANINGFUL = ENCRYPTED | PATCH | PackageEntry.DESCRIPTOR | UTF8;

    private static final int AES = 99;

    private static final int FILE_TYPE = 0xf000;
    private static final int FOLDER = 0x4000;
    private static final int REGULAR = 0x8000;
    private static final int LINK = 0xa000;

    /** In the order of the directory. */
    final List<PackageEntry> entries = new ArrayList<PackageEntry>();
    /** The offset of the directory, at which the entries must end. */
    final long start;

    private final PackageReader reader;
    private final long end;
    private long at;

    /** Reads the whole directory. */
    ZipDirectory(PackageReader reader) throws IOException, PackageException {
        ZipEnd found = ZipEnd.find(reader);
        if (found.count > FileList.MAX_FILES) {
            throw new PackageException("the package has more than " + FileList.MAX_FILES + " entries");
        }
        this.reader = reader;
        start = found.start;
        end = found.end;
        at = start;
        for (long index = 0; index < found.count; index++) {
            entries.add(entry());
        }
        if (at < end) {
            throw PackageException.ofDirectory("it has more bytes than its entries");
        }
    }

    private byte[] take(int count) throws IOException, PackageException {
        if (count > end - at) {
            throw PackageException.ofDirectory("it has fewer bytes than its entries");
        }
        at += count;
        return reader.read(at - count, count);
    }

    private PackageEntry entry() throws IOException, PackageException {
        ZipBytes header = new ZipBytes(take(HEADER));
        if (header.u32() != MARK) {
            throw PackageException.ofDirectory("one of its entries is not valid");
        }
        // The versions made by and needed to extract.
        int flags = header.skip(4).u16();
        int method = header.u16();
        // Time and date.
        long checksum = header.skip(4).u32();
        long packed = header.u32();
        long unpacked = header.u32();
        int nameLength = header.u16();
        int extraLength = header.u16();
        int commentLength = header.u16();
        int disk = header.u16();
        // Internal attributes, such as whether it is text.
        long attributes = header.skip(2).u32();
        long offset = header.u32();
        byte[] nameBytes = take(nameLength);
        ZipExtra extra = ZipExtra.read(take(extraLength));
        take(commentLength);
        String name = PackagePath.check(nameBytes);
        checkKind(name, flags, method, disk, (int) (attributes >> 16) & FILE_TYPE);
        if (extra != null && extra.hasOtherName(nameBytes)) {
            throw PackageException.ofEntry(name, "has a second name");
        }
        // The order is that of the extra field.
        long wideUnpacked = extra == null ? -1 : extra.number(unpacked);
        long widePacked = extra == null ? -1 : extra.number(packed);
        long wideOffset = extra == null ? -1 : extra.number(offset);
        if (wideUnpacked < 0 || widePacked < 0 || wideOffset < 0) {
            throw PackageException.ofEntry(name, "has damaged extra fields");
        }
        return new PackageEntry(name, flags, method, checksum, widePacked, wideUnpacked, wideOffset);
    }

    private static void checkKind(String name, int flags, int method, int disk, int type) throws PackageException {
        if ((flags & ENCRYPTED) != 0 || method == AES) {
            throw PackageException.ofEntry(name, "is encrypted");
        }
        if (method != PackageEntry.STORED && method != PackageEntry.DEFLATED) {
            throw PackageException.ofEntry(name, "is compressed with method " + method);
        }
        if ((flags & PATCH) != 0 || disk != 0) {
            throw PackageException.ofEntry(name, "requires another file");
        }
        // The Unix file type. Programs of other systems leave it 0, but not all readers check which system it was.
        boolean isFolder = name.endsWith("/");
        if (type == LINK) {
            throw PackageException.ofEntry(name, "is a symbolic link");
        }
        if (type != 0 && type != FOLDER && type != REGULAR) {
            throw PackageException.ofEntry(name, "is neither a file nor a folder");
        }
        if (type != 0 && isFolder != (type == FOLDER)) {
            throw PackageException.ofEntry(name, "is a folder by its name or by its attributes, but not by both");
        }
    }
}
