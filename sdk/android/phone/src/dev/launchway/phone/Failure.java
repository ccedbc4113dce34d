/** Why a command failed: the exit code (`docs/reference/command-line.md#exit-codes`), the message and a hint. */
package dev.launchway.phone;

import dev.launchway.core.device.CheckException;
import dev.launchway.core.device.SyncException;
import dev.launchway.core.device.TrustException;
import dev.launchway.core.net.DownloadException;
import java.io.IOException;

final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final int NOT_FOUND = 3;
    private static final int SERVER = 6;

    final int exit;
    /** What to do; null if there is nothing to say. */
    final String hint;

    private Failure(int exit, String message, String hint) {
        super(message);
        this.exit = exit;
        this.hint = hint;
    }

    static Failure failed(String message) {
        return new Failure(FAILED, message, null);
    }

    static Failure failed(String message, String hint) {
        return new Failure(FAILED, message, hint);
    }

    static Failure usage(String message, String hint) {
        return new Failure(USAGE, message, hint);
    }

    static Failure noPhone(String directory) {
        String hint = "run `init` to install an app, or name the directory of a phone with --dir";
        return new Failure(NOT_FOUND, directory + " is not a phone", hint);
    }

    static Failure storage(IOException cause) {
        return failed("cannot use the storage of the phone: " + cause.getMessage());
    }

    static Failure of(SyncException error) {
        if (isOfServer(error)) {
            return new Failure(SERVER, error.getMessage(), "check the address, and that the server is running");
        }
        String hint = error.kind == SyncException.Kind.NOT_STARTED ? "run `start`" : null;
        return failed(error.getMessage(), hint);
    }

    private static boolean isOfServer(SyncException error) {
        switch (error.kind) {
            case CHECK:
                CheckException.Kind check = ((CheckException) error.getCause()).kind;
                return check == CheckException.Kind.NETWORK || check == CheckException.Kind.STATUS;
            case UNVERIFIED:
                return ((TrustException) error.getCause()).refusal() == null;
            case DOWNLOAD:
                return ((DownloadException) error.getCause()).kind != DownloadException.Kind.NO_SPACE;
            default:
                return false;
        }
    }
}
