/** Reads little-endian numbers from the front of some bytes of a ZIP. */
package dev.launchway.core.packages;

import java.util.Arrays;

final class ZipBytes {
    private final byte[] bytes;
    private int at;

    ZipBytes(byte[] bytes) {
        this.bytes = bytes;
    }

    int left() {
        return bytes.length - at;
    }

    ZipBytes skip(int count) {
        at += count;
        return this;
    }

    byte[] take(int count) {
        at += count;
        return Arrays.copyOfRange(bytes, at - count, at);
    }

    int u16() {
        return (int) number(2);
    }

    long u32() {
        return number(4);
    }

    /** Numbers from 2^63 become the highest one below: no file is that long, so both are refused alike. */
    long u64() {
        long number = number(8);
        return number < 0 ? Long.MAX_VALUE : number;
    }

    private long number(int length) {
        long number = 0;
        for (int index = length - 1; index >= 0; index--) {
            number = number << 8 | (bytes[at + index] & 0xff);
        }
        at += length;
        return number;
    }
}
