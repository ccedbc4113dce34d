/** The server's answer to a check. */
package dev.launchway.core.device;

import dev.launchway.core.storage.ReportToken;

public final class CheckAnswer {
    public enum Kind {
        UPDATE,
        /** There is an update that needs a new store binary. */
        STORE_UPDATE_REQUIRED,
        NOTHING
    }

    public final Kind kind;
    /** The update; null for every other kind. */
    public final Offer offer;
    /** Why there is no update to install, in the server's words; empty for an update. */
    public final String message;
    /** What reports are authenticated with; null if the server gave no token. */
    final ReportToken token;
    /** Null if the server does not say. */
    final AnnouncedVersions announced;

    CheckAnswer(Kind kind, Offer offer, String message, ReportToken token, AnnouncedVersions announced) {
        this.kind = kind;
        this.offer = offer;
        this.message = message;
        this.token = token;
        this.announced = announced;
    }
}
