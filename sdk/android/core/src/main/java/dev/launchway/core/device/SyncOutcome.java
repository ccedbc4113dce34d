/** The outcome of a round with the server. */
package dev.launchway.core.device;

public final class SyncOutcome {
    public enum Kind {
        /** There is no update. */
        NOTHING,
        STORE_UPDATE_REQUIRED,
        /** The next start tries the update. */
        STAGED,
        /** The update is installed, and waits until the app chooses it. */
        DOWNLOADED,
        /** What runs has these bytes already, and is this update from now on. */
        SAME_BYTES,
        /** The offer failed before on this binary. */
        QUARANTINED,
        /** The download waits for a connection that is not metered. */
        WAITS_FOR_WIFI
    }

    public final Kind kind;
    /** The update; null where there is none to install. */
    public final Offer offer;
    /** Why a new store binary is needed; empty otherwise. */
    public final String reason;

    SyncOutcome(Kind kind, Offer offer, String reason) {
        this.kind = kind;
        this.offer = offer;
        this.reason = reason;
    }

    static SyncOutcome of(Kind kind, Offer offer) {
        return new SyncOutcome(kind, offer, "");
    }
}
