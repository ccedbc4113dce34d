/** A round with the server ended early. Nothing that runs is changed. */
package dev.launchway.core.device;

import dev.launchway.core.net.DownloadException;
import dev.launchway.core.slots.InstallException;
import java.io.IOException;

public final class SyncException extends Exception {
    private static final long serialVersionUID = 1;

    public enum Kind {
        /** Another process of the app decides. */
        NOT_MAIN,
        /** The app has not started since it was installed. */
        NOT_STARTED,
        /** The state was corrupt and is set aside. */
        CORRUPT,
        STORAGE,
        /** The check failed: the cause is a {@link CheckException}. */
        CHECK,
        /** The app's developers did not sign this, or nobody can tell: the cause is a {@link TrustException}. */
        UNVERIFIED,
        /** The cause is a {@link DownloadException}. */
        DOWNLOAD,
        /** The package cannot be installed: the cause is an {@link InstallException}. */
        INSTALL
    }

    public final Kind kind;

    private SyncException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    static SyncException notMain() {
        return new SyncException(Kind.NOT_MAIN, "another process of this app runs the client", null);
    }

    static SyncException notStarted() {
        return new SyncException(Kind.NOT_STARTED, "the app has not started yet", null);
    }

    static SyncException corrupt() {
        String message = "state.json is not valid; it was set aside, and the next start uses a new one";
        return new SyncException(Kind.CORRUPT, message, null);
    }

    static SyncException storage(IOException cause) {
        return new SyncException(Kind.STORAGE, "the storage failed: " + cause.getMessage(), cause);
    }

    static SyncException check(CheckException cause) {
        return new SyncException(Kind.CHECK, cause.getMessage(), cause);
    }

    static SyncException unverified(TrustException cause) {
        return new SyncException(Kind.UNVERIFIED, "cannot verify updates: " + cause.getMessage(), cause);
    }

    static SyncException download(DownloadException cause) {
        return new SyncException(Kind.DOWNLOAD, cause.getMessage(), cause);
    }

    static SyncException install(InstallException cause) {
        return new SyncException(Kind.INSTALL, cause.getMessage(), cause);
    }
}
