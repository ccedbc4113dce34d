/** The record at the very end of a ZIP that locates the directory (APPNOTE 4.3.14 to 4.3.16). */
package dev.launchway.core.packages;

import java.io.IOException;

final class ZipEnd {
    /** Lengths in bytes of the record, of the ZIP64 locator, and of the ZIP64 record. */
    private static final int END = 22;

    private static final int LOCATOR = 20;
    private static final int WIDE_END = 56;

    private static final int MAX_COMMENT = 0xffff;
    private static final long END_MARK = 0x0605_4b50L;
    private static final long LOCATOR_MARK = 0x0706_4b50L;
    private static final long WIDE_END_MARK = 0x0606_4b50L;

    /** The number of entries in the directory. */
    final long count;
    /** The offset of the directory. */
    final long start;
    /** The offset after the directory, where the end records begin. */
    final long end;

    private ZipEnd(long count, long start, long end) {
        this.count = count;
        this.start = start;
        this.end = end;
    }

    /** The numbers of an end record, of either width. */
    private static final class Numbers {
        long disk;
        long directoryDisk;
        long countHere;
        long count;
        long size;
        long start;

        static Numbers narrow(ZipBytes bytes) {
            Numbers numbers = new Numbers();
            numbers.disk = bytes.u16();
            numbers.directoryDisk = bytes.u16();
            numbers.countHere = bytes.u16();
            numbers.count = bytes.u16();
            numbers.size = bytes.u32();
            numbers.start = bytes.u32();
            return numbers;
        }

        static Numbers wide(ZipBytes bytes) {
            Numbers numbers = new Numbers();
            numbers.disk = bytes.u32();
            numbers.directoryDisk = bytes.u32();
            numbers.countHere = bytes.u64();
            numbers.count = bytes.u64();
            numbers.size = bytes.u64();
            numbers.start = bytes.u64();
            return numbers;
        }

        /** Whether each number is the other's, or the placeholder for one in the ZIP64 record. */
        boolean agree(Numbers wide) {
            return agree(disk, wide.disk, 0xffff)
                    && agree(directoryDisk, wide.directoryDisk, 0xffff)
                    && agree(countHere, wide.countHere, 0xffff)
                    && agree(count, wide.count, 0xffff)
                    && agree(size, wide.size, 0xffff_ffffL)
                    && agree(start, wide.start, 0xffff_ffffL);
        }

        private static boolean agree(long narrow, long wide, long elsewhere) {
            return narrow == elsewhere || narrow == wide;
        }
    }

    /** Finds the last end record, as readers that search from the end do. It must end with the file. */
    static ZipEnd find(PackageReader reader) throws IOException, PackageException {
        long tailStart = Math.max(0, reader.length - END - MAX_COMMENT);
        byte[] tail = reader.read(tailStart, (int) (reader.length - tailStart));
        int at = lastMark(tail);
        if (at < 0 || tail.length - at < END) {
            throw notZip();
        }
        ZipBytes bytes = new ZipBytes(tail).skip(at + 4);
        Numbers narrow = Numbers.narrow(bytes);
        int comment = bytes.u16();
        int rest = tail.length - at - END;
        if (rest > comment) {
            throw new PackageException("there are bytes after the end of the ZIP archive");
        }
        if (rest < comment) {
            throw notZip();
        }
        return locate(reader, narrow, tailStart + at);
    }

    private static PackageException notZip() {
        return new PackageException("the package is not a ZIP archive, or its end is missing");
    }

    private static int lastMark(byte[] tail) {
        for (int at = tail.length - 4; at >= 0; at--) {
            if (tail[at] == 'P' && new ZipBytes(tail).skip(at).u32() == END_MARK) {
                return at;
            }
        }
        return -1;
    }

    /** {@code at} is the offset of the record of regular width. */
    private static ZipEnd locate(PackageReader reader, Numbers narrow, long at) throws IOException, PackageException {
        Numbers wide = wide(reader, narrow, at);
        Numbers whole = wide == null ? narrow : wide;
        long end = wide == null ? at : at - LOCATOR - WIDE_END;
        if (whole.disk != 0 || whole.directoryDisk != 0 || whole.countHere != whole.count) {
            throw PackageException.ofDirectory("it is only one part of several files");
        }
        if (whole.start > end || whole.size > end - whole.start) {
            throw PackageException.ofDirectory("it is not at its offset");
        }
        if (whole.start + whole.size < end) {
            // The classic sign of a program or a picture with an appended archive: all offsets are too small.
            throw leadingBytes();
        }
        return new ZipEnd(whole.count, whole.start, end);
    }

    static PackageException leadingBytes() {
        return new PackageException("there are bytes before the first entry of the ZIP archive");
    }

    /**
     * The ZIP64 record before {@code at}, or null if there is none. It must agree with the regular one, because some readers use
     * the one and some the other.
     */
    private static Numbers wide(PackageReader reader, Numbers narrow, long at) throws IOException, PackageException {
        if (at < LOCATOR) {
            return null;
        }
        ZipBytes locator = new ZipBytes(reader.read(at - LOCATOR, LOCATOR));
        if (locator.u32() != LOCATOR_MARK) {
            return null;
        }
        long expected = at - LOCATOR - WIDE_END;
        boolean atItsPlace = locator.u32() == 0 && locator.u64() == expected && locator.u32() <= 1;
        if (expected >= 0 && atItsPlace) {
            ZipBytes record = new ZipBytes(reader.read(expected, WIDE_END));
            boolean whole = record.u32() == WIDE_END_MARK && record.u64() == WIDE_END - 12;
            Numbers wide = Numbers.wide(record.skip(4));
            if (whole && narrow.agree(wide)) {
                return wide;
            }
        }
        throw PackageException.ofDirectory("its ZIP64 end record is inconsistent");
    }
}
