/** What a path names. */
package dev.launchway.core.storage;

public final class Entry {
    public enum Kind {
        FILE,
        FOLDER,
        /** Anything else, such as a link. */
        OTHER
    }

    public final Kind kind;
    /** The number of bytes of a file; 0 for everything else. */
    public final long size;

    private Entry(Kind kind, long size) {
        this.kind = kind;
        this.size = size;
    }

    public static Entry file(long size) {
        return new Entry(Kind.FILE, size);
    }

    public static Entry folder() {
        return new Entry(Kind.FOLDER, 0);
    }

    public static Entry other() {
        return new Entry(Kind.OTHER, 0);
    }
}
