/**
 * The order in which the files of the top-level roles are fetched and taken (docs/reference/trust.md#the-client). Nothing
 * here fetches: a workflow names the file that it needs, and its caller passes the bytes, or reports the file as missing.
 */
package dev.launchway.core.trust;

final class Workflow {
    /** At most this many roots are taken in one run; the next run continues from there. */
    private static final int MAX_ROOTS = 256;

    private enum Stage {
        ROOTS,
        TIMESTAMP,
        SNAPSHOT,
        TARGETS,
        DONE
    }

    private final TrustedMetadata trusted;
    private final long now;
    private Stage stage = Stage.ROOTS;
    private int rootsTaken;

    /** Begins a run. {@code now} decides what has expired, for the whole run. */
    Workflow(TrustedMetadata trusted, long now) {
        this.trusted = trusted;
        this.now = now;
    }

    /** What to fetch next; null when the top-level roles are current. */
    FileRequest nextRequest() throws RoleException {
        if (stage == Stage.ROOTS) {
            return FileRequest.root(trusted.root().version + 1);
        }
        if (stage == Stage.TIMESTAMP) {
            return FileRequest.timestamp();
        }
        if (stage == Stage.SNAPSHOT) {
            long version = trusted.nextSnapshotVersion(now);
            if (version > 0) {
                return FileRequest.snapshot(version);
            }
            stage = Stage.TARGETS;
        }
        if (stage == Stage.TARGETS) {
            long version = trusted.nextTargetsVersion(now);
            if (version > 0) {
                return FileRequest.targets(version);
            }
            stage = Stage.DONE;
        }
        return null;
    }

    /**
     * Takes the file that was asked for. Returns whether it replaced the trusted one. If it is refused, the run is over; what
     * was taken before stays trusted.
     */
    boolean take(byte[] bytes) throws RoleException {
        switch (stage) {
            case ROOTS:
                trusted.updateRoot(bytes);
                rootsTaken++;
                if (rootsTaken == MAX_ROOTS) {
                    finishRoots();
                }
                return true;
            case TIMESTAMP:
                boolean newer = trusted.updateTimestamp(bytes, now);
                stage = Stage.SNAPSHOT;
                return newer;
            case SNAPSHOT:
                trusted.updateSnapshot(bytes, now);
                stage = Stage.TARGETS;
                return true;
            case TARGETS:
                trusted.updateTargets(bytes, now);
                stage = Stage.DONE;
                return true;
            default:
                return false;
        }
    }

    /** The server does not have the file that was asked for, which is fine only for the next root. */
    void reportMissing(FileRequest request) throws RoleException {
        if (stage != Stage.ROOTS) {
            throw RoleException.missing(request.role());
        }
        finishRoots();
    }

    private void finishRoots() throws RoleException {
        trusted.finishRoots(now);
        stage = Stage.TIMESTAMP;
    }
}
