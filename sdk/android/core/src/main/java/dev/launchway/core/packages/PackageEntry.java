/** What the directory of a package declares about one entry. */
package dev.launchway.core.packages;

public final class PackageEntry {
    static final int STORED = 0;
    static final int DEFLATED = 8;

    /** Size and checksum follow the data and are absent from the entry's own header. */
    static final int DESCRIPTOR = 1 << 3;

    final String name;
    final int flags;
    final int method;
    final long checksum;
    final long packed;
    final long unpacked;
    /** The offset of its own header. */
    final long start;

    PackageEntry(String name, int flags, int method, long checksum, long packed, long unpacked, long start) {
        this.name = name;
        this.flags = flags;
        this.method = method;
        this.checksum = checksum;
        this.packed = packed;
        this.unpacked = unpacked;
        this.start = start;
    }

    /** The path, without a folder's trailing slash. */
    public String path() {
        return PackagePath.ofFile(name);
    }

    public boolean isFolder() {
        return name.endsWith("/");
    }

    /** The unpacked size in bytes. */
    public long size() {
        return unpacked;
    }

    PackageException refused(String fault) {
        return PackageException.ofEntry(name, fault);
    }
}
