/** Why a download stopped. */
package dev.launchway.core.net;

public final class DownloadException extends Exception {
    private static final long serialVersionUID = 1;

    public enum Kind {
        /** The address has expired: the next check returns another one, and the download continues. */
        EXPIRED,
        /** The server cannot be reached, or the connection broke. */
        NETWORK,
        /** The server refuses for now. */
        STATUS,
        /** The server sends something else than the package. */
        WRONG,
        /** There is too little room. */
        NO_SPACE
    }

    public final Kind kind;
    /** The status of the response; 0 where it does not matter. */
    public final int status;

    private DownloadException(Kind kind, int status, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.status = status;
    }

    static DownloadException expired(int status) {
        String message = "the address has expired (the server responded with status " + status + ")";
        return new DownloadException(Kind.EXPIRED, status, message, null);
    }

    static DownloadException network(Exception cause) {
        String message = "the download was interrupted: " + cause.getMessage();
        return new DownloadException(Kind.NETWORK, 0, message, cause);
    }

    static DownloadException status(int status) {
        return new DownloadException(Kind.STATUS, status, "the server responded with status " + status, null);
    }

    static DownloadException wrong(String reason) {
        return new DownloadException(Kind.WRONG, 0, "the server does not send the package: " + reason, null);
    }

    static DownloadException noSpace(long needed, long free) {
        String message = "the package needs " + needed + " bytes, and " + free + " are free";
        return new DownloadException(Kind.NO_SPACE, 0, message, null);
    }
}
