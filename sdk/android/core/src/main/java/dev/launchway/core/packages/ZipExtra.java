/** The extra fields of an entry (APPNOTE 4.5), as far as they matter: numbers of ZIP64, and a second name. */
package dev.launchway.core.packages;

import java.util.Arrays;

final class ZipExtra {
    private static final int WIDE = 0x0001;
    private static final int UNICODE_NAME = 0x7075;
    /** The placeholder for a number in the extra fields. */
    private static final long ELSEWHERE = 0xffff_ffffL;

    private ZipBytes wide = new ZipBytes(new byte[0]);
    private byte[] unicodeName;

    private ZipExtra() {}

    /** Null if a field is cut off, or a relevant one is repeated. Up to three bytes at the end may be padding. */
    static ZipExtra read(byte[] bytes) {
        ZipExtra extra = new ZipExtra();
        ZipBytes fields = new ZipBytes(bytes);
        boolean hasWide = false;
        while (fields.left() >= 4) {
            int id = fields.u16();
            int length = fields.u16();
            if (length > fields.left()) {
                return null;
            }
            byte[] data = fields.take(length);
            if (id == WIDE) {
                if (hasWide) {
                    return null;
                }
                hasWide = true;
                extra.wide = new ZipBytes(data);
            } else if (id == UNICODE_NAME) {
                if (extra.unicodeName != null) {
                    return null;
                }
                extra.unicodeName = data;
            }
        }
        return extra;
    }

    /** Whether there is a second name, which some readers prefer, that differs from this one. */
    boolean hasOtherName(byte[] name) {
        if (unicodeName == null) {
            return false;
        }
        // It is preceded by a version and the checksum of the first name.
        return unicodeName.length < 5
                || !Arrays.equals(Arrays.copyOfRange(unicodeName, 5, unicodeName.length), name);
    }

    /**
     * The value of a regular field, read from here if it is the placeholder, in the order of the fields that refer to
     * here; -1 if it is missing.
     */
    long number(long field) {
        if (field != ELSEWHERE) {
            return field;
        }
        return wide.left() < 8 ? -1 : wide.u64();
    }
}
