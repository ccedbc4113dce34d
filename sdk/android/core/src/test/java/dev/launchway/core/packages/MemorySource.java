/** A package in memory. */
package dev.launchway.core.packages;

final class MemorySource implements PackageSource {
    private final byte[] bytes;

    MemorySource(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public long length() {
        return bytes.length;
    }

    @Override
    public int read(long from, byte[] buffer, int offset, int count) {
        int length = (int) Math.min(count, bytes.length - from);
        if (length <= 0) {
            return -1;
        }
        // Short reads are as good as long ones.
        length = Math.min(length, 7);
        System.arraycopy(bytes, (int) from, buffer, offset, length);
        return length;
    }
}
