/** A file of metadata to fetch. */
package dev.launchway.core.trust;

import dev.launchway.core.trust.metadata.Root;
import dev.launchway.core.trust.metadata.Snapshot;
import dev.launchway.core.trust.metadata.Targets;
import dev.launchway.core.trust.metadata.Timestamp;

public final class FileRequest {
    /** What kind of file it is. */
    enum Kind {
        /** The next root. That there is none is the usual answer. */
        ROOT(Root.TYPE.limit),
        TIMESTAMP(Timestamp.TYPE.limit),
        SNAPSHOT(Snapshot.TYPE.limit),
        TARGETS(Targets.TYPE.limit),
        /** A delegated role. */
        ROLE(Targets.TYPE.limit);

        private final int limit;

        Kind(int limit) {
            this.limit = limit;
        }
    }

    final Kind kind;
    final long version;

    private final String role;

    private FileRequest(Kind kind, String role, long version) {
        this.kind = kind;
        this.role = role;
        this.version = version;
    }

    static FileRequest root(long version) {
        return new FileRequest(Kind.ROOT, "root", version);
    }

    static FileRequest timestamp() {
        return new FileRequest(Kind.TIMESTAMP, "timestamp", 0);
    }

    static FileRequest snapshot(long version) {
        return new FileRequest(Kind.SNAPSHOT, "snapshot", version);
    }

    static FileRequest targets(long version) {
        return new FileRequest(Kind.TARGETS, "targets", version);
    }

    static FileRequest role(String name, long version) {
        return new FileRequest(Kind.ROLE, name, version);
    }

    /** The name of the role. */
    public String role() {
        return role;
    }

    /** The most bytes to read: longer files are refused, so more need not be fetched. */
    public int limit() {
        return kind.limit;
    }

    /** The file's name in the repository, such as `3.root.json` or `timestamp.json`. */
    public String fileName() {
        return kind == Kind.TIMESTAMP ? "timestamp.json" : version + "." + role + ".json";
    }
}
