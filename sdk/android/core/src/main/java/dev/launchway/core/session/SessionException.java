/** A call failed, with a code for programs and a message for people. */
package dev.launchway.core.session;

import dev.launchway.core.device.CheckException;
import dev.launchway.core.device.SyncException;
import dev.launchway.core.device.TrustException;
import dev.launchway.core.net.DownloadException;
import dev.launchway.core.slots.InstallException;
import java.io.IOException;

public final class SessionException extends Exception {
    private static final long serialVersionUID = 1;

    public final ErrorCode code;

    public SessionException(ErrorCode code, String message) {
        this(code, message, null);
    }

    private SessionException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    static SessionException notMain() {
        return new SessionException(ErrorCode.NOT_MAIN, "another process of this app runs the client");
    }

    /** The failure behind any exception of a call. */
    static SessionException of(Exception failure) {
        if (failure instanceof SessionException) {
            return (SessionException) failure;
        } else if (failure instanceof SyncException) {
            return of((SyncException) failure);
        } else if (failure instanceof IOException) {
            return new SessionException(ErrorCode.STORAGE, "the storage failed: " + failure.getMessage(), failure);
        }
        return new SessionException(ErrorCode.UNKNOWN, failure.toString(), failure);
    }

    private static SessionException of(SyncException failure) {
        if (failure.getCause() instanceof TrustException) {
            // The message begins with the code of the refusal, so that programs can read it.
            return new SessionException(code(failure), failure.getCause().getMessage(), failure);
        }
        return new SessionException(code(failure), failure.getMessage(), failure);
    }

    private static ErrorCode code(SyncException failure) {
        switch (failure.kind) {
            case NOT_MAIN:
                return ErrorCode.NOT_MAIN;
            case NOT_STARTED:
                return ErrorCode.NOT_STARTED;
            case CORRUPT:
                return ErrorCode.STATE_CORRUPT;
            case STORAGE:
                return ErrorCode.STORAGE;
            case CHECK:
                return code((CheckException) failure.getCause());
            case UNVERIFIED:
                TrustException trust = (TrustException) failure.getCause();
                return trust.refusal() == null ? ErrorCode.NETWORK : ErrorCode.UNVERIFIED;
            case DOWNLOAD:
                return code((DownloadException) failure.getCause());
            default:
                boolean isFull = ((InstallException) failure.getCause()).kind == InstallException.Kind.NO_SPACE;
                return isFull ? ErrorCode.NO_SPACE : ErrorCode.BAD_PACKAGE;
        }
    }

    private static ErrorCode code(CheckException failure) {
        switch (failure.kind) {
            case NETWORK:
                return ErrorCode.NETWORK;
            case STATUS:
                return ErrorCode.SERVER;
            default:
                return ErrorCode.INVALID_ANSWER;
        }
    }

    private static ErrorCode code(DownloadException failure) {
        switch (failure.kind) {
            case NETWORK:
                return ErrorCode.NETWORK;
            case STATUS:
                return ErrorCode.SERVER;
            case NO_SPACE:
                return ErrorCode.NO_SPACE;
            default:
                return ErrorCode.DOWNLOAD_FAILED;
        }
    }
}
