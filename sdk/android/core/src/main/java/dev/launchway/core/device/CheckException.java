/** A check has no answer, or one that cannot be used. */
package dev.launchway.core.device;

public final class CheckException extends Exception {
    private static final long serialVersionUID = 1;

    public enum Kind {
        /** The server cannot be reached. */
        NETWORK,
        /** The server refuses for now. */
        STATUS,
        /** The answer cannot be understood. */
        MALFORMED,
        /** The offer is not newer than what runs. */
        NOT_NEWER
    }

    public final Kind kind;
    /** For how many seconds the server does not want to be asked; -1 if it does not say. */
    public final long retryAfter;

    private CheckException(Kind kind, long retryAfter, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.retryAfter = retryAfter;
    }

    static CheckException network(Exception cause) {
        return new CheckException(Kind.NETWORK, -1, "the server cannot be reached: " + cause.getMessage(), cause);
    }

    static CheckException status(int status, long retryAfter) {
        return new CheckException(Kind.STATUS, retryAfter, "the server responded with status " + status, null);
    }

    static CheckException malformed(String reason) {
        return new CheckException(Kind.MALFORMED, -1, "the server's response is not valid: " + reason, null);
    }

    static CheckException notNewer(Offer offer) {
        String message = "not-newer: the server offers " + offer.version + " (" + offer.buildNumber
                + "), which is not newer than the running version";
        return new CheckException(Kind.NOT_NEWER, -1, message, null);
    }
}
